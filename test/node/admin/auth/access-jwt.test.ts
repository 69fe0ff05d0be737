import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { exportSPKI, importJWK, SignJWT, UnsecuredJWT } from "jose";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { accessVerifier } from "../../../../src/admin/auth/access-jwt.ts";
import { AccessTeam, AUDIENCE, type JwtChanges } from "../../../builders/access-team.ts";

/** Serves the team's keys over HTTP on the loopback interface, as Access does over HTTPS. */
let server: Server;
let issuer: string;
let team: AccessTeam;
/** What the server answers with, instead of the keys. */
let outage:
  { readonly status: number; readonly body: string; readonly isCutShort?: boolean } | undefined;
let fetches: number;
let verify: ReturnType<typeof accessVerifier>;

async function serveKeys({ url }: IncomingMessage, response: ServerResponse): Promise<void> {
  fetches++;
  const keys = await team.keySet();
  response.writeHead(outage?.status ?? (url === "/cdn-cgi/access/certs" ? 200 : 404));
  if (outage?.isCutShort) response.write(outage.body);
  else response.end(outage?.body ?? JSON.stringify(keys));
}

beforeAll(async () => {
  server = createServer((request, response) => void serveKeys(request, response));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo; // of a TCP server
  issuer = `http://127.0.0.1:${port}`;
});

afterAll(() => {
  server.close();
  server.closeAllConnections();
});

beforeEach(async () => {
  vi.useFakeTimers({ toFake: ["Date"] });
  team = await AccessTeam.create();
  outage = undefined;
  fetches = 0;
  verify = newVerifier();
});

afterEach(() => void vi.useRealTimers());

/** A verifier as a new isolate has it. */
function newVerifier(operators: readonly string[] = []) {
  return accessVerifier({ issuer, audience: AUDIENCE, operators });
}

/** The clock stands still but for this: jose reads it itself. */
function passTime(ms: number): void {
  vi.setSystemTime(Date.now() + ms);
}

const signed = ({ claims, ...others }: JwtChanges = {}) =>
  team.sign(Date.now(), { claims: { iss: issuer, ...claims }, ...others });
const seconds = () => Math.floor(Date.now() / 1000);

describe("a JWT of Cloudflare Access", () => {
  it("lets its user read", async () => {
    expect(await verify(await signed())).toEqual({
      ok: true,
      actor: { id: "ann@example.org", scopes: ["read"], expiresAt: expect.any(Number) },
    });
  });

  it("lets named operators operate, however their address is written", async () => {
    verify = newVerifier(["ann@example.org"]);
    expect(await verify(await signed({ claims: { email: "Ann@Example.org" } }))).toMatchObject({
      actor: { id: "ann@example.org", scopes: ["read", "operate"], expiresAt: expect.any(Number) },
    });
  });

  it("names a service token by its client id, and lets it operate if it is listed", async () => {
    verify = newVerifier(["4f2a.access"]);
    const claims = { email: undefined, sub: "", common_name: "4f2a.access" };
    const actor = { id: "4f2a.access", scopes: ["read", "operate"] };
    expect(await verify(await signed({ claims }))).toMatchObject({ actor });
  });

  it.each([
    ["a subject", { email: undefined, sub: "ann@example.org" }],
    ["a service token", { email: undefined, common_name: "ann@example.org" }],
    ["an address", { email: "4f2a.access" }],
  ])(
    "gives %s no right to operate under the name of an operator of another kind",
    async (_, claims) => {
      verify = newVerifier(["ann@example.org", "4f2a.access"]);
      expect(await verify(await signed({ claims }))).toMatchObject({ actor: { scopes: ["read"] } });
    },
  );

  it("remains valid for a minute before and after the time that it states", async () => {
    for (const [claims, ok] of [
      [{ exp: seconds() - 59 }, true],
      [{ exp: seconds() - 61 }, false],
      [{ nbf: seconds() + 59 }, true],
      [{ nbf: seconds() + 61 }, false],
    ] as const)
      expect(await verify(await signed({ claims }))).toMatchObject({ ok });
  });

  it.each([
    ["another audience", { aud: ["other"] }, "ERR_JWT_CLAIM_VALIDATION_FAILED"],
    ["another team", { iss: "https://evil.example" }, "ERR_JWT_CLAIM_VALIDATION_FAILED"],
    ["no end", { exp: undefined }, "ERR_JWT_CLAIM_VALIDATION_FAILED"],
    ["an end that is past", { exp: 1 }, "ERR_JWT_EXPIRED"],
    ["nobody's name", { email: undefined, sub: "" }, "no_name"],
  ])("lets nobody in with %s", async (_, claims, reason) => {
    expect(await verify(await signed({ claims }))).toEqual({ ok: false, reason });
  });

  it.each(["", "a.b.c", `${"x".repeat(20_000)}.e30.e30`])(
    "lets nobody in if it is malformed: %.20j",
    async (jwt) => {
      expect(await verify(jwt)).toMatchObject({ ok: false });
      expect(fetches).toBe(0);
    },
  );
});

describe("a forged JWT", () => {
  const claims = () => ({
    iss: issuer,
    aud: AUDIENCE,
    email: "eve@example.org",
    exp: seconds() + 60,
  });

  it("lets nobody in with the algorithm none", async () => {
    expect(await verify(new UnsecuredJWT(claims()).encode())).toMatchObject({ ok: false });
  });

  it("lets nobody in when it is signed with the public key as a shared secret", async () => {
    const [jwk] = (await team.keySet()).keys;
    if (jwk === undefined) throw new Error("the team has a key");
    const key = await importJWK({ ...jwk, ext: true }, "RS256");
    if (key instanceof Uint8Array) throw new Error("an RSA key is no secret");
    const secret = new TextEncoder().encode(await exportSPKI(key));
    const header = { alg: "HS256", kid: "k1" };
    const jwt = await new SignJWT(claims()).setProtectedHeader(header).sign(secret);
    expect(await verify(jwt)).toEqual({ ok: false, reason: "ERR_JOSE_ALG_NOT_ALLOWED" });
    expect(fetches).toBe(0);
  });

  it("lets nobody in with another team's key under the same id, even if the key is in its header", async () => {
    const other = await AccessTeam.create();
    const [jwk] = (await other.keySet()).keys;
    for (const header of [{}, { jwk }]) {
      const jwt = await other.sign(Date.now(), { header, claims: claims() });
      expect(await verify(jwt)).toMatchObject({
        ok: false,
        reason: "ERR_JWS_SIGNATURE_VERIFICATION_FAILED",
      });
    }
  });
});

describe("the gate", () => {
  it("fetches the team's keys again for an unknown key, at most twice a minute", async () => {
    await verify(await signed());
    await team.addKey("k2");
    const jwt = await signed({ kid: "k2" });
    const unknown = { ok: false, reason: "ERR_JWKS_NO_MATCHING_KEY" };
    for (let attempt = 0; attempt < 5; attempt++) expect(await verify(jwt)).toEqual(unknown);
    expect(fetches).toBe(1);
    passTime(30_000);
    expect(await verify(jwt)).toMatchObject({ ok: true });
    expect(await verify(await signed({ kid: "k1" }))).toMatchObject({ ok: true });
    expect(fetches).toBe(2);
  });
});

describe("the gate, while the team's keys cannot be fetched,", () => {
  it.each([
    { status: 500, body: "{}" },
    { status: 302, body: "" },
    { status: 200, body: "<html>" },
    { status: 200, body: '{"keys":"none"}' },
  ])("lets nobody in until it can fetch them again: %j", async (answer) => {
    outage = answer;
    const jwt = await signed();
    expect(await verify(jwt)).toEqual({ ok: false, reason: "keys_unavailable" });
    outage = undefined;
    expect(await verify(jwt)).toMatchObject({ ok: true });
  });

  it("logs that it cannot fetch them, with the reason", async () => {
    outage = { status: 500, body: "{}" };
    const log = vi.spyOn(console, "log").mockImplementation(() => {});
    await verify(await signed());
    const lines = log.mock.calls.map(([line]) => JSON.parse(String(line)));
    log.mockRestore();
    expect(lines).toMatchObject([
      { level: "warn", event: "access_keys_unreadable", error: expect.stringContaining("200 OK") },
    ]);
  });

  it("stops waiting for an answer that does not end", async () => {
    outage = { status: 200, body: '{"keys":', isCutShort: true };
    expect(await verify(await signed())).toEqual({ ok: false, reason: "keys_unavailable" });
  });

  it("reuses keys that it fetched within the hour", async () => {
    const jwt = await signed({ claims: { exp: seconds() + 2 * 3600 } });
    await verify(jwt);
    outage = { status: 500, body: "" };
    passTime(3600_000 - 1);
    expect(await verify(jwt)).toMatchObject({ ok: true });
    passTime(1);
    expect(await verify(jwt)).toEqual({ ok: false, reason: "keys_unavailable" });
  });
});
