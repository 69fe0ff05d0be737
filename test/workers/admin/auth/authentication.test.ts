import { describe, expect, it } from "vitest";
import {
  digest,
  EXPIRED_TOKEN,
  OPERATOR_TOKEN,
  READER_TOKEN,
} from "../../../builders/admin-tokens.ts";
import { checkedFetch } from "../../checked-fetch.ts";

const RUN = "/admin/ingest/runs/01a1fc3f-b811-706c-8d6d-9e5359a10797";

let clients = 0;

function fetchAs(authorization: string | null, path: string, method = "GET"): Promise<Response> {
  // Each from an address of its own, because failures of one client are slowed down.
  const headers = new Headers({ "cf-connecting-ip": `2001:db8:${(++clients).toString(16)}::1` });
  if (authorization !== null) headers.set("authorization", authorization);
  return checkedFetch(path, { method, headers });
}

/** ASCII as Unicode's compatibility forms have it, which NFKC would take for the same. */
function inWideLetters(text: string): string {
  return text.replace(/[!-~]/g, (letter) => String.fromCodePoint(letter.charCodeAt(0) + 0xfee0));
}

/** An answer but for what differs with every request. */
async function shapeOf(answer: Response) {
  const { request_id, ...body } = await answer.json<{ request_id: unknown }>();
  expect(request_id).toEqual(expect.stringMatching(/^[0-9a-f-]{36}$/));
  return { status: answer.status, headers: Object.fromEntries(answer.headers), body };
}

it("a request with an expired token is answered 401, with the reason", async () => {
  const answer = await fetchAs(`Bearer ${EXPIRED_TOKEN}`, RUN);
  expect(answer.status).toBe(401);
  expect(await answer.json()).toMatchObject({ code: "token_expired" });
});

describe("a request without a valid token", () => {
  it.each([
    ["no Authorization header", null],
    ["an empty one", ""],
    ["the scheme alone", "Bearer"],
    ["an empty token", "Bearer "],
    ["a wrong token", "Bearer wrong"],
    ["a token with one more letter", `Bearer ${OPERATOR_TOKEN}x`],
    ["a token with one letter less", `Bearer ${OPERATOR_TOKEN.slice(0, -1)}`],
    ["a token in capitals", `Bearer ${OPERATOR_TOKEN.toUpperCase()}`],
    ["two tokens", `Bearer ${OPERATOR_TOKEN} ${OPERATOR_TOKEN}`],
    ["two tokens by comma", `Bearer ${OPERATOR_TOKEN}, Bearer ${READER_TOKEN}`],
    ["a very long token", `Bearer ${"x".repeat(8000)}`],
    ["a token with an accent", `Bearer ${OPERATOR_TOKEN}\u0301`],
    ["a token in wide letters", `Bearer ${inWideLetters(OPERATOR_TOKEN)}`],
    ["a token after a wide space", `Bearer\u3000${OPERATOR_TOKEN}`],
    ["a token before a space of no width", `Bearer ${OPERATOR_TOKEN}\u200b`],
    ["the hash in place of the token", `Bearer ${digest(OPERATOR_TOKEN)}`],
    ["another scheme", `Token ${OPERATOR_TOKEN}`],
    ["basic authentication", `Basic ${btoa(`admin:${OPERATOR_TOKEN}`)}`],
    ["no scheme", OPERATOR_TOKEN],
  ])("is answered 401 in the same shape with %s", async (_, authorization) => {
    const answer = await fetchAs(authorization, RUN);
    expect(answer.headers.get("www-authenticate")).toBe('Bearer realm="admin"');
    expect(answer.headers.get("content-type")).toBe("application/problem+json");
    expect(answer.headers.get("cache-control")).toBe("no-store");
    expect(await shapeOf(answer)).toEqual(await shapeOf(await fetchAs(null, RUN)));
    expect(answer.status).toBe(401);
  });

  it.each([
    ["an unknown path", "GET", "/admin/no/such/path"],
    ["the root of the admin routes", "GET", "/admin"],
    ["the root with a slash", "GET", "/admin/"],
    ["another method", "DELETE", "/admin/ingest/queue"],
    ["a route that changes something", "POST", "/admin/ingest/queue"],
    ["a preflight", "OPTIONS", "/admin/ingest/queue"],
    ["a path with encoded letters", "GET", "/%61dmin/ingest/runs/x"],
    ["a path with dots", "GET", "/catalog/../admin/ingest/runs/x"],
  ])("learns nothing from %s", async (_, method, path) => {
    const answer = await fetchAs(null, path, method);
    expect(await shapeOf(answer)).toEqual(await shapeOf(await fetchAs(null, RUN)));
  });

  it("learns nothing from HEAD", async () => {
    expect((await fetchAs(null, "/admin/ingest/queue", "HEAD")).status).toBe(401);
  });
});

describe("a request with a valid token", () => {
  it.each(["Bearer", "bearer", "BEARER", "Bearer  "])(
    "may write the scheme “%s”",
    async (scheme) => {
      expect((await fetchAs(`${scheme} ${READER_TOKEN}`, RUN)).status).toBe(404);
    },
  );

  it("is answered 404 at an unknown path", async () => {
    const answer = await fetchAs(`Bearer ${READER_TOKEN}`, "/admin/no/such/path");
    expect(answer.status).toBe(404);
    expect(await answer.json()).toMatchObject({ code: "not_found" });
  });

  it("is answered 403 without the scope that the route asks for", async () => {
    const answer = await fetchAs(`Bearer ${READER_TOKEN}`, "/admin/ingest/queue", "POST");
    expect(answer.status).toBe(403);
    expect(await answer.json()).toMatchObject({
      code: "scope_missing",
      detail: 'This credential lacks the scope "operate".',
    });
  });
});

describe("gRPC below /admin", () => {
  it.each([
    ["/admin/ingest/pause", "application/grpc"],
    ["/admin/ingest/pause", "application/grpc+proto"],
    ["/admin/ingest/pause", "APPLICATION/gRPC-Web"],
    ["/admin/ingest/pause", "application/grpc-web-text; charset=x"],
    ["/admin", "application/grpc"],
    ["/admin/no/such/path", "application/grpc"],
    ["/ADMIN/ingest/pause", "application/grpc"],
  ])("at %s as %s is answered 415", async (path, type) => {
    const headers = { "content-type": type, authorization: `Bearer ${OPERATOR_TOKEN}` };
    const answer = await checkedFetch(path, { method: "POST", headers });
    expect(answer.status).toBe(415);
    expect(await answer.json()).toMatchObject({ code: "grpc_refused" });
  });
});

describe("repeated failures", () => {
  it("are slowed down, by address", async () => {
    const fail = async (ip: string) => {
      const headers = { authorization: "Bearer wrong", "cf-connecting-ip": ip };
      return (await checkedFetch("/admin/x", { headers })).status;
    };
    const statuses: number[] = [];
    for (let attempt = 0; attempt < 25; attempt++) statuses.push(await fail("192.0.2.99"));
    expect([statuses[0], statuses.at(-1)]).toEqual([401, 429]);
    expect(await fail("192.0.2.98")).toBe(401);
  });
});
