import { beforeEach, describe, expect, it } from "vitest";
import type { AdminToken } from "../../../../src/platform/credentials.ts";
import { digest, OPERATOR_TOKEN, READER_TOKEN } from "../../../builders/admin-tokens.ts";
import { AdminWorld } from "../../../builders/admin-world.ts";

let world: AdminWorld;

beforeEach(() => {
  world = new AdminWorld();
});

describe("a request without a valid token", () => {
  const RUN = "/admin/ingest/runs/019aa3c0-0000-7000-8000-000000000001";
  const send = (authorization: string | null, path = RUN, method = "GET") =>
    world.send(path, { method, headers: authorization === null ? {} : { authorization } });

  /** An answer but for what differs with every request. */
  async function shapeOf(answer: Response) {
    const { request_id, ...body } = await answer.json<{ request_id: unknown }>();
    expect(request_id).toEqual(expect.stringMatching(/^[0-9a-f-]{36}$/));
    return { status: answer.status, headers: Object.fromEntries(answer.headers), body };
  }

  it.each([
    ["an empty header", ""],
    ["the scheme alone", "Bearer"],
    ["a wrong token", "Bearer wrong"],
    ["a token with one more letter", `Bearer ${OPERATOR_TOKEN}x`],
    ["a token with an accent", `Bearer ${OPERATOR_TOKEN}\u00e9`],
    ["a token in capitals", `Bearer ${OPERATOR_TOKEN.toUpperCase()}`],
    ["two tokens", `Bearer ${OPERATOR_TOKEN} ${OPERATOR_TOKEN}`],
    ["two tokens by comma", `Bearer ${OPERATOR_TOKEN}, Bearer ${READER_TOKEN}`],
    ["a very long token", `Bearer ${"x".repeat(8000)}`],
    ["the hash in place of the token", `Bearer ${digest(OPERATOR_TOKEN)}`],
    ["another scheme", `Token ${OPERATOR_TOKEN}`],
    ["no scheme", OPERATOR_TOKEN],
  ])("gets the same 401 with %s", async (_, authorization) => {
    const shape = await shapeOf(await send(authorization));
    expect(shape).toMatchObject({
      status: 401,
      headers: { "www-authenticate": 'Bearer realm="admin"', "cache-control": "no-store" },
      body: { code: "unauthenticated" },
    });
    expect(shape).toEqual(await shapeOf(await send(null)));
  });

  it.each([
    ["an unknown path", "GET", "/admin/no/such/path"],
    ["the root of the admin routes", "GET", "/admin"],
    ["a path in capitals", "GET", "/aDMIN/"],
    ["another method", "DELETE", "/admin/ingest/queue"],
    ["a preflight", "OPTIONS", "/admin/ingest/queue"],
    ["a path with encoded letters", "GET", "/%61dmin/ingest/runs/x"],
    ["a path with dots", "GET", "/catalog/../admin/ingest/runs/x"],
  ])("gets the same 401 for %s", async (_, method, path) => {
    expect(await shapeOf(await send(null, path, method))).toEqual(await shapeOf(await send(null)));
  });

  it("passes with a valid token, whatever the case of the scheme and the number of spaces", async () => {
    for (const scheme of ["bearer", "BEARER", "Bearer  "])
      expect((await send(`${scheme} ${READER_TOKEN}`)).status).toBe(404);
  });
});

describe("a request from a page of another site", () => {
  it.each([
    { origin: "https://evil.example" },
    { origin: "null" },
    { "sec-fetch-site": "cross-site" },
    { "sec-fetch-site": "same-site" },
    { origin: "http://localhost", "sec-fetch-site": "cross-site" },
  ])("gets 403 and changes nothing: %j", async (headers) => {
    const answer = await world.post("/admin/ingest/pause", {}, headers);
    expect(answer.status).toBe(403);
    expect(await answer.json()).toMatchObject({ code: "cross_site" });
    expect(world.ingest.coordinator.status().pause).toBeNull();
    expect(world.audited).toMatchObject([{ outcome: "refused", code: "cross_site" }]);
  });

  it("may read, as a link does", async () => {
    const headers = { "sec-fetch-site": "cross-site" };
    expect((await world.request("/admin/ingest/runs", { headers })).status).toBe(200);
  });
});

describe("a request from a page of the service, or from no page", () => {
  it.each([
    {},
    { origin: "http://localhost" },
    { origin: "http://localhost", "sec-fetch-site": "same-origin" },
    { "sec-fetch-site": "none" },
  ])("passes with the headers %j", async (headers) => {
    expect((await world.post("/admin/ingest/pause", {}, headers)).status).toBe(200);
  });
});

describe("every answer of the service", () => {
  it.each([
    ["a success", "/admin/ingest/runs", OPERATOR_TOKEN],
    ["an unknown path", "/admin/unknown", OPERATOR_TOKEN],
    ["a missing credential", "/admin/ingest/runs", "wrong"],
    ["a public one", "/dashboard/summary", "wrong"],
  ])(
    "forbids content of others, and requires HTTPS of this host only: %s",
    async (_, path, token) => {
      const { headers } = await world.request(path, {
        headers: { authorization: `Bearer ${token}`, origin: "https://evil.example" },
      });
      expect(headers.get("x-content-type-options")).toBe("nosniff");
      expect(headers.get("content-security-policy")).toContain("default-src 'none'");
      expect(headers.get("content-security-policy")).toContain("frame-ancestors 'none'");
      expect(headers.get("strict-transport-security")).toBe("max-age=31536000");
      expect(headers.get("referrer-policy")).toBe("no-referrer");
      if (!path.startsWith("/admin")) return;
      expect(headers.get("cache-control")).toBe("no-store");
      expect([...headers.keys()].join(" ")).not.toContain("access-control-");
    },
  );
});

describe("a client without a valid credential", () => {
  const fail = (ip = "192.0.2.7") =>
    world.request("/admin/ingest/runs", {
      headers: { authorization: "Bearer wrong", "cf-connecting-ip": ip },
    });

  it("gets 429 by its address after too many failures, unlike one with a valid credential", async () => {
    world.failureLimit = 2;
    expect((await fail()).status).toBe(401);
    expect((await fail()).status).toBe(401);
    const answer = await fail();
    expect(answer.status).toBe(429);
    expect(answer.headers.get("retry-after")).toBe("60");
    expect(await answer.json()).toMatchObject({ code: "too_many_failures" });
    expect((await world.request("/admin/ingest/runs")).status).toBe(200);
    expect(world.failures).toEqual(["192.0.2.7", "192.0.2.7", "192.0.2.7"]);
  });

  it("still gets 401 while failures cannot be counted", async () => {
    world.failureLimit = null;
    expect((await fail()).status).toBe(401);
  });
});

describe("the gate with Cloudflare Access in front", () => {
  const access = { issuer: "https://team.example", audience: "a", operators: [] };
  const ask = (headers: { readonly [name: string]: string }) =>
    world.send("/admin/ingest/runs", { headers });

  beforeEach(() => {
    world.credentials = {
      problem: null,
      credentials: { ...world.credentials.credentials, access },
    };
  });

  const ann = {
    ok: true,
    actor: { id: "ann@example.org", scopes: ["read"], expiresAt: 0 },
  } as const;
  const jwt = { "cf-access-jwt-assertion": "jwt" };

  it.each([
    ["its user in by its header", jwt, 200],
    ["nobody in by its cookie", { cookie: "CF_Authorization=jwt" }, 401],
    ["nobody in by a wrong token", { ...jwt, authorization: "Bearer wrong" }, 401],
    ["a token in beside the header", { ...jwt, authorization: `Bearer ${READER_TOKEN}` }, 200],
  ])("lets %s", async (_, headers, status) => {
    world.access = ann;
    expect((await ask(headers)).status).toBe(status);
  });

  it("shows its user and the end of the session at /admin/whoami", async () => {
    world.access = ann;
    expect(await (await world.send("/admin/whoami", { headers: jwt })).json()).toEqual({
      id: "ann@example.org",
      scopes: ["read"],
      expires_at: "1970-01-01T00:00:00.000Z",
    });
    expect(await (await world.request("/admin/whoami")).json()).toEqual({
      id: "ops",
      scopes: ["read", "operate"],
      expires_at: null,
    });
  });

  it("refuses changes by a user who may only read, and audits them", async () => {
    world.access = ann;
    const path = "/admin/ingest/runs/0199-such-a-run/cancel";
    const answer = await world.send(path, { method: "POST", headers: jwt });
    expect(answer.status).toBe(403);
    expect(world.audited).toMatchObject([
      {
        actor: "ann@example.org",
        action: "ingest.cancel",
        target: "0199-such-a-run",
        outcome: "refused",
      },
    ]);
  });

  it.each([
    ["a JWT that is refused, in the shape of every 401", "ERR_JWT_EXPIRED", 401, "unauthenticated"],
    ["keys that cannot be read", "keys_unavailable", 503, "access_keys_unavailable"],
  ] as const)("answers %s: %s, %i", async (_, reason, status, code) => {
    world.access = { ok: false, reason };
    const answer = await ask(jwt);
    expect(answer.status).toBe(status);
    expect(await answer.json()).toMatchObject({ code });
  });
});

describe("a malformed credential beside a right one", () => {
  it("lets the right one in, and answers everybody else that something is malformed", async () => {
    world.credentials = { ...world.credentials, problem: "ACCESS_AUD and …" };
    expect((await world.request("/admin/ingest/runs")).status).toBe(200);
    for (const headers of [{ authorization: "Bearer wrong" }, {}]) {
      const answer = await world.send("/admin/ingest/runs", { headers });
      expect([answer.status, await answer.json()]).toMatchObject([
        503,
        { code: "admin_misconfigured" },
      ]);
    }
  });
});

describe("a token", () => {
  const only = (...changes: readonly Partial<AdminToken>[]) => {
    const [ops] = world.credentials.credentials.tokens;
    if (ops === undefined) throw new Error("there is no token");
    const tokens = changes.map((changed) => ({ ...ops, ...changed }));
    world.credentials = { problem: null, credentials: { tokens, access: null } };
  };

  it("opens the admin routes if it is listed both with a past end and without one", async () => {
    only({ expiresAt: 1 }, { expiresAt: null });
    expect((await world.request("/admin/ingest/runs")).status).toBe(200);
  });

  it("opens the admin routes until its last millisecond", async () => {
    only({ expiresAt: world.ingest.time + 1 });
    expect((await world.request("/admin/ingest/runs")).status).toBe(200);
    world.ingest.time += 1;
    const answer = await world.request("/admin/ingest/runs");
    expect(answer.status).toBe(401);
    expect(await answer.json()).toMatchObject({ code: "token_expired" });
  });

  it.each(["", "Bearer ", "Bearer"])(
    "lets nobody in by “%s” if the hash of nothing is configured",
    async (authorization) => {
      only({ sha256: digest("") });
      const headers = { authorization };
      expect((await world.request("/admin/ingest/runs", { headers })).status).toBe(401);
    },
  );
});
