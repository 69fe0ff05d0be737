import { beforeEach, describe, expect, it, vi } from "vitest";
import { OPERATOR_TOKEN, READER_TOKEN } from "../../../builders/admin-tokens.ts";
import { AdminWorld } from "../../../builders/admin-world.ts";
import { checkedFetch } from "../../checked-fetch.ts";

let world: AdminWorld;

beforeEach(() => {
  world = new AdminWorld();
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
  ])("at %s as %s is answered 415, also by the Worker itself", async (path, type) => {
    const headers = { "content-type": type, authorization: `Bearer ${OPERATOR_TOKEN}` };
    const answers = [
      await world.request(path, { method: "POST", headers }),
      await checkedFetch(path, { method: "POST", headers }),
    ];
    for (const answer of answers) {
      expect(answer.status).toBe(415);
      expect(await answer.json()).toMatchObject({ code: "grpc_refused" });
    }
    expect(world.pause).toBeNull();
  });
});

describe("a path below /admin in capitals", () => {
  it.each(["/ADMIN", "/Admin/ingest/runs", "/aDMIN/"])("%s wants a credential", async (path) => {
    const answer = await world.request(path, { headers: { authorization: "Bearer wrong" } });
    expect(answer.status).toBe(401);
    expect((await world.request(path)).status).toBe(404);
  });
});

describe("a page of another site", () => {
  it.each([
    { origin: "https://evil.example" },
    { origin: "null" },
    { "sec-fetch-site": "cross-site" },
    { "sec-fetch-site": "same-site" },
    { origin: "http://localhost", "sec-fetch-site": "cross-site" },
  ])("changes nothing: %j", async (headers) => {
    const answer = await world.post("/admin/ingest/pause", {}, headers);
    expect(answer.status).toBe(403);
    expect(await answer.json()).toMatchObject({ code: "cross_site" });
    expect(world.pause).toBeNull();
    expect(world.audited).toMatchObject([{ outcome: "refused", code: "cross_site" }]);
  });

  it.each([
    {},
    { origin: "http://localhost" },
    { origin: "http://localhost", "sec-fetch-site": "same-origin" },
    { "sec-fetch-site": "none" },
  ])("is none with %j", async (headers) => {
    expect((await world.post("/admin/ingest/pause", {}, headers)).status).toBe(200);
  });

  it("may not read an answer either", async () => {
    const answer = await world.request("/admin/ingest/runs", {
      headers: { origin: "https://evil.example" },
    });
    const names = [...answer.headers.keys()];
    expect(names.filter((name) => name.startsWith("access-control-"))).toEqual([]);
  });
});

describe("every answer", () => {
  it.each([
    ["a success", "/admin/ingest/runs", OPERATOR_TOKEN],
    ["an unknown path", "/admin/unknown", OPERATOR_TOKEN],
    ["a missing credential", "/admin/ingest/runs", "wrong"],
    ["a public one", "/dashboard/summary", "wrong"],
  ])("loads nothing, and demands HTTPS of its own host only: %s", async (_, path, token) => {
    const { headers } = await world.request(path, {
      headers: { authorization: `Bearer ${token}` },
    });
    expect(headers.get("x-content-type-options")).toBe("nosniff");
    expect(headers.get("content-security-policy")).toContain("default-src 'none'");
    expect(headers.get("content-security-policy")).toContain("frame-ancestors 'none'");
    expect(headers.get("strict-transport-security")).toBe("max-age=31536000");
    expect(headers.get("referrer-policy")).toBe("no-referrer");
  });

  it.each([
    ["a success", "/admin/ingest/runs", OPERATOR_TOKEN],
    ["an unknown path", "/admin/unknown", OPERATOR_TOKEN],
    ["a missing credential", "/admin/ingest/runs", "wrong"],
  ])("below /admin is kept nowhere: %s", async (_, path, token) => {
    const { headers } = await world.request(path, {
      headers: { authorization: `Bearer ${token}` },
    });
    expect(headers.get("cache-control")).toBe("no-store");
  });
});

describe("repeated failures", () => {
  const fail = (ip = "192.0.2.7") =>
    world.request("/admin/ingest/runs", {
      headers: { authorization: "Bearer wrong", "cf-connecting-ip": ip },
    });

  it("are slowed down by address, and a valid credential is not", async () => {
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

  it("are those of a network where the address is IPv6", async () => {
    await fail("2001:db8:1:2::1");
    await fail("2001:db8:1:2:ffff::2");
    expect(new Set(world.failures)).toEqual(new Set(["2001:db8:1:2"]));
  });

  it("are still 401 while they cannot be counted", async () => {
    world.failureLimit = null;
    expect((await fail()).status).toBe(401);
  });

  it("are slowed down by the Worker itself", async () => {
    const statuses: number[] = [];
    for (let attempt = 0; attempt < 25; attempt++) {
      const answer = await checkedFetch("/admin/x", {
        headers: { authorization: `Bearer wrong-${attempt}`, "cf-connecting-ip": "192.0.2.99" },
      });
      statuses.push(answer.status);
    }
    expect(statuses[0]).toBe(401);
    expect(statuses.at(-1)).toBe(429);
    const other = await checkedFetch("/admin/x", {
      headers: { authorization: "Bearer wrong", "cf-connecting-ip": "192.0.2.98" },
    });
    expect(other.status).toBe(401);
  });
});

describe("with Cloudflare Access in front", () => {
  const access = { issuer: "https://team.example", audience: "a", operators: [] };
  const ask = (headers: { readonly [name: string]: string }, path = "/admin/ingest/runs") =>
    world.send(path, { headers });

  beforeEach(() => {
    if (world.credentials.ok)
      world.credentials = {
        ok: true,
        credentials: { ...world.credentials.credentials, access },
      };
  });

  it("its user gets in by the header that it sets", async () => {
    world.access = { ok: true, actor: { id: "ann@example.org", scopes: ["read"] } };
    expect((await ask({ "cf-access-jwt-assertion": "jwt" })).status).toBe(200);
  });

  it("its cookie lets nobody in", async () => {
    world.access = { ok: true, actor: { id: "ann@example.org", scopes: ["read"] } };
    expect((await ask({ cookie: "CF_Authorization=jwt" })).status).toBe(401);
  });

  it("its user who may only read changes nothing, and the attempt is in the audit", async () => {
    world.access = { ok: true, actor: { id: "ann@example.org", scopes: ["read"] } };
    const headers = { "cf-access-jwt-assertion": "jwt" };
    const answer = await world.send("/admin/ingest/pause", { method: "POST", headers });
    expect(answer.status).toBe(403);
    expect(world.audited).toMatchObject([{ actor: "ann@example.org", outcome: "refused" }]);
  });

  it("a token goes before the JWT, also if it is wrong", async () => {
    world.access = { ok: true, actor: { id: "ann@example.org", scopes: ["read"] } };
    const jwt = { "cf-access-jwt-assertion": "jwt" };
    expect((await ask({ ...jwt, authorization: "Bearer wrong" })).status).toBe(401);
    expect((await ask({ ...jwt, authorization: `Bearer ${READER_TOKEN}` })).status).toBe(200);
  });

  it("a JWT that is refused is 401, in the shape of every 401", async () => {
    world.access = { ok: false, reason: "ERR_JWT_EXPIRED" };
    const answer = await ask({ "cf-access-jwt-assertion": "jwt" });
    expect(answer.status).toBe(401);
    expect(await answer.json()).toMatchObject({ code: "unauthenticated" });
  });

  it("is 503 while its keys cannot be read", async () => {
    world.access = { ok: false, reason: "keys_unavailable" };
    const answer = await ask({ "cf-access-jwt-assertion": "jwt" });
    expect(answer.status).toBe(503);
    expect(await answer.json()).toMatchObject({ code: "access_keys_unavailable" });
  });
});

describe("with malformed credentials", () => {
  it("every admin route is closed, and the log says why", async () => {
    const log = vi.spyOn(console, "log").mockImplementation(() => {});
    try {
      world.credentials = { ok: false, detail: "ADMIN_TOKENS must be a JSON list" };
      const answer = await world.request("/admin/ingest/runs");
      expect(answer.status).toBe(503);
      const text = await answer.text();
      expect(JSON.parse(text)).toMatchObject({ code: "admin_misconfigured" });
      expect(text).not.toContain("must be a JSON list");
      expect(log.mock.calls.join("\n")).toContain("ADMIN_TOKENS must be a JSON list");
    } finally {
      log.mockRestore();
    }
  });
});
