import { once } from "node:events";
import { createServer, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { exportSPKI, importJWK, SignJWT, UnsecuredJWT } from "jose";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { accessVerifier } from "../../../src/admin/access-jwt.ts";
import {
  AccessKeys,
  fetchKeySet,
  KEYS_COOLDOWN_MS,
  KEYS_FRESH_MS,
  KEYS_MAX_AGE_MS,
} from "../../../src/admin/access-keys.ts";
import { AccessTeam, AUDIENCE, type JwtChanges, TEAM } from "../../builders/access-team.ts";

/** Serves the team's keys over HTTP on the loopback interface, as Access does over HTTPS. */
let server: Server;
let url: string;
let team: AccessTeam;
/** What the server answers with, instead of the keys. */
let outage: { readonly status: number; readonly body: string } | undefined;
let fetches: number;
/** Milliseconds since 1970. */
let time: number;
let verify: ReturnType<typeof accessVerifier>;

async function serveKeys(response: ServerResponse): Promise<void> {
  fetches++;
  const keys = await team.keySet();
  response.writeHead(outage?.status ?? 200, { "content-type": "application/json" });
  response.end(outage?.body ?? JSON.stringify(keys));
}

beforeAll(async () => {
  server = createServer((_request, response) => void serveKeys(response));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("no port was assigned");
  url = `http://127.0.0.1:${address.port}/cdn-cgi/access/certs`;
});

afterAll(() => {
  server.close();
  server.closeAllConnections();
});

beforeEach(async () => {
  team = await AccessTeam.create();
  outage = undefined;
  fetches = 0;
  time = Date.parse("2026-11-01T05:00:00.000Z");
  verify = newVerifier();
});

/** A verifier as a new isolate has it. */
function newVerifier(operators: readonly string[] = []) {
  const keys = new AccessKeys({
    fetchKeys: async () => fetchKeySet(url, fetch),
    waitUntil: () => {},
    now: () => time,
    report: () => {},
  });
  return accessVerifier({ issuer: TEAM, audience: AUDIENCE, operators }, keys, () => time);
}

const signed = (changes?: JwtChanges) => team.sign(time, changes);
const seconds = () => Math.floor(time / 1000);

describe("a JWT of Cloudflare Access", () => {
  it("lets its user read", async () => {
    expect(await verify(await signed())).toEqual({
      ok: true,
      actor: { id: "ann@example.org", scopes: ["read"] },
    });
  });

  it("lets those operate who are named, however their address is written", async () => {
    verify = newVerifier(["ann@example.org"]);
    expect(await verify(await signed({ claims: { email: "Ann@Example.org" } }))).toMatchObject({
      actor: { scopes: ["read", "operate"] },
    });
  });

  it("is that of a service token by its client id", async () => {
    verify = newVerifier(["4f2a.access"]);
    const claims = { email: undefined, sub: "", common_name: "4f2a.access" };
    expect(await verify(await signed({ claims }))).toEqual({
      ok: true,
      actor: { id: "4f2a.access", scopes: ["read", "operate"] },
    });
  });

  it("may be for several applications", async () => {
    const claims = { aud: ["other", AUDIENCE] };
    expect(await verify(await signed({ claims }))).toMatchObject({ ok: true });
  });

  it("is valid for a minute more than it says, on either side, and not longer", async () => {
    for (const [claims, ok] of [
      [{ exp: seconds() - 59 }, true],
      [{ exp: seconds() - 61 }, false],
      [{ nbf: seconds() + 59 }, true],
      [{ nbf: seconds() + 61 }, false],
    ] as const)
      expect(await verify(await signed({ claims }))).toMatchObject({ ok });
  });

  it.each([
    ["another audience", { aud: ["other"] }, "refused"],
    ["no audience", { aud: undefined }, "refused"],
    ["another team", { iss: "https://evil.cloudflareaccess.com" }, "refused"],
    ["the team with a slash", { iss: `${TEAM}/` }, "refused"],
    ["no issuer", { iss: undefined }, "refused"],
    ["no end", { exp: undefined }, "refused"],
    ["nobody's name", { email: undefined, sub: "" }, "refused"],
    ["a name that is no text", { email: 1, sub: undefined }, "refused"],
  ])("is refused with %s", async (_, claims, reason) => {
    expect(await verify(await signed({ claims }))).toEqual({ ok: false, reason });
  });

  it("is refused once it has expired", async () => {
    const jwt = await signed();
    time += 3600_000 + 60_000;
    expect(await verify(jwt)).toEqual({ ok: false, reason: "expired" });
  });

  it("is refused without a key's id, and no keys are fetched for it", async () => {
    const jwt = await signed({ header: { kid: undefined } });
    expect(await verify(jwt)).toEqual({ ok: false, reason: "unknown_key" });
    expect(fetches).toBe(0);
  });

  it.each(["", ".", "..", "a.b.c", "x".repeat(20_000), "e30.e30.", "é.é.é"])(
    "is refused when it is none: %.20j",
    async (jwt) => {
      expect(await verify(jwt)).toMatchObject({ ok: false });
      expect(fetches).toBe(0);
    },
  );
});

describe("a forged JWT", () => {
  const claims = () => ({
    iss: TEAM,
    aud: AUDIENCE,
    email: "eve@example.org",
    exp: seconds() + 60,
  });

  it("is refused with the algorithm none", async () => {
    expect(await verify(new UnsecuredJWT(claims()).encode())).toMatchObject({ ok: false });
    const [, payload] = (await signed()).split(".");
    const header = Buffer.from('{"alg":"none","kid":"k1"}').toString("base64url");
    expect(await verify(`${header}.${payload}.`)).toMatchObject({ ok: false });
  });

  it("is refused when the public key is taken for a shared secret", async () => {
    const [jwk] = (await team.keySet()).keys;
    if (jwk === undefined) throw new Error("the team has a key");
    const key = await importJWK({ ...jwk, ext: true }, "RS256");
    if (key instanceof Uint8Array) throw new Error("an RSA key is no secret");
    const secret = new TextEncoder().encode(await exportSPKI(key));
    const jwt = await new SignJWT(claims())
      .setProtectedHeader({ alg: "HS256", kid: "k1" })
      .sign(secret);
    expect(await verify(jwt)).toEqual({ ok: false, reason: "refused" });
    expect(fetches).toBe(0);
  });

  it("is refused with a key of its own in the header, or of another team with the same id", async () => {
    const other = await AccessTeam.create();
    const [jwk] = (await other.keySet()).keys;
    for (const header of [{}, { jwk }, { jku: url }, { x5u: url }])
      expect(await verify(await other.sign(time, { header }))).toEqual({
        ok: false,
        reason: "refused",
      });
  });

  it("is refused with another payload under the same signature", async () => {
    const [header, , signature] = (await signed()).split(".");
    const payload = Buffer.from(JSON.stringify(claims())).toString("base64url");
    expect(await verify(`${header}.${payload}.${signature}`)).toMatchObject({ ok: false });
  });
});

describe("the team's keys", () => {
  it("are fetched once for many requests", async () => {
    const jwt = await signed();
    await Promise.all(Array.from({ length: 20 }, () => verify(jwt)));
    await verify(jwt);
    expect(fetches).toBe(1);
  });

  it("are fetched again when a new one signs, and the old one goes on", async () => {
    const old = await signed();
    await verify(old);
    await team.addKey("k2");
    time += KEYS_COOLDOWN_MS;
    expect(await verify(await signed({ kid: "k2" }))).toMatchObject({ ok: true });
    expect(await verify(old)).toMatchObject({ ok: true });
    expect(fetches).toBe(2);
  });

  it("lose one that the team has withdrawn, an hour later", async () => {
    const claims = { exp: seconds() + 2 * 3600 };
    const old = await signed({ claims });
    await verify(old);
    await team.addKey("k2");
    team.removeKey("k1");
    time += KEYS_FRESH_MS;
    expect(await verify(old)).toEqual({ ok: false, reason: "unknown_key" });
  });

  it("are not fetched for a flood of unknown ids", async () => {
    await verify(await signed());
    const other = await AccessTeam.create();
    for (let attempt = 0; attempt < 50; attempt++) {
      await other.addKey("k2");
      const jwt = await other.sign(time, { kid: "k2", header: { kid: `made-up-${attempt}` } });
      expect(await verify(jwt)).toEqual({ ok: false, reason: "unknown_key" });
    }
    expect(fetches).toBe(1);
    time += KEYS_COOLDOWN_MS;
    const jwt = await other.sign(time, { kid: "k2" });
    await Promise.all(Array.from({ length: 20 }, () => verify(jwt)));
    expect(fetches).toBe(2);
    expect(await verify(await signed())).toMatchObject({ ok: true });
  });
});

describe("while the team's keys cannot be fetched", () => {
  it.each([
    { status: 500, body: "{}" },
    { status: 200, body: "<html>" },
    { status: 200, body: '{"keys":"none"}' },
    { status: 200, body: "null" },
    { status: 302, body: "" },
  ])("nobody gets in, and it is not tried again at once: %j", async (answer) => {
    outage = answer;
    const jwt = await signed();
    for (let attempt = 0; attempt < 10; attempt++)
      expect(await verify(jwt)).toEqual({ ok: false, reason: "keys_unavailable" });
    expect(fetches).toBe(1);
    outage = undefined;
    time += KEYS_COOLDOWN_MS;
    expect(await verify(jwt)).toMatchObject({ ok: true });
  });

  it("because they are too long, nobody gets in, and the answer is not read on", async () => {
    outage = { status: 200, body: JSON.stringify(await team.keySet()).padEnd(64 * 1024 + 1) };
    expect(await verify(await signed())).toEqual({ ok: false, reason: "keys_unavailable" });
    outage = { status: 200, body: outage.body.slice(0, -1) };
    time += KEYS_COOLDOWN_MS;
    expect(await verify(await signed())).toMatchObject({ ok: true });
  });

  it("because no answer comes, or no end of one, that is given up in time", async () => {
    const silent = createServer(({ url: path }, response) => {
      if (path === "/begun") response.write('{"keys":');
    });
    silent.listen(0, "127.0.0.1");
    await once(silent, "listening");
    const { port } = silent.address() as AddressInfo; // of a TCP server
    const fetched = ["", "begun"].map((path) =>
      fetchKeySet(`http://127.0.0.1:${port}/${path}`, fetch),
    );
    for (const fetching of await Promise.allSettled(fetched))
      expect(fetching).toMatchObject({ status: "rejected", reason: { name: "TimeoutError" } });
    silent.closeAllConnections();
    silent.close();
  });

  it("the held ones are used for a day", async () => {
    const claims = { exp: seconds() + 2 * 86_400 };
    const jwt = await signed({ claims });
    await verify(jwt);
    outage = { status: 500, body: "" };
    time += KEYS_MAX_AGE_MS - 1;
    expect(await verify(jwt)).toMatchObject({ ok: true });
    time += 1 + KEYS_COOLDOWN_MS;
    expect(await verify(jwt)).toEqual({ ok: false, reason: "keys_unavailable" });
  });
});
