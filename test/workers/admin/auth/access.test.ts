import { env } from "cloudflare:workers";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { checkedFetch } from "../../checked-fetch.ts";
import { AccessTeam, AUDIENCE, type JwtChanges, TEAM } from "../../../builders/access-team.ts";
import type { CredentialSettings } from "../../../../src/platform/credentials.ts";

let team: AccessTeam;
let worker: typeof import("../../../../src/worker/worker.ts").default;
/** Where keys were fetched from. */
const fetched: string[] = [];

// An isolate reads its settings once.
beforeAll(async () => {
  vi.resetModules();
  ({ default: worker } = await import("../../../../src/worker/worker.ts"));
  team = await AccessTeam.create();
  const keySet = await team.keySet();
  vi.spyOn(globalThis, "fetch").mockImplementation(async (input) => {
    fetched.push(input instanceof Request ? input.url : String(input));
    return Response.json(keySet);
  });
});
afterAll(() => vi.resetModules());

/** The Worker's answer to a user of Access, who is Ann unless `changes` say otherwise. */
async function ask(path: string, { changes = {}, method = "GET" }: Asked = {}) {
  return askWith(await team.sign(Date.now(), changes), path, method);
}

/** The answer of the Worker behind Access to a JWT. */
function askWith(jwt: string, path: string, method = "GET"): Promise<Response> {
  const init = { method, headers: { "cf-access-jwt-assertion": jwt } };
  const settings = {
    ADMIN_TOKENS: "[]",
    ACCESS_TEAM_DOMAIN: new URL(TEAM).host,
    ACCESS_AUD: AUDIENCE,
    ACCESS_OPERATORS: "bob@example.org",
  } satisfies CredentialSettings;
  return checkedFetch(path, init, async (url) =>
    worker.fetch(new Request(url, init), { ...env, ...settings }),
  );
}

interface Asked {
  readonly changes?: JwtChanges;
  readonly method?: string;
}

const bob = { claims: { email: "bob@example.org" } };

describe("the Worker behind Cloudflare Access", () => {
  it("lets every user read, verified by the keys that the team publishes", async () => {
    expect((await ask("/admin/ingest/runs")).status).toBe(200);
    expect((await ask("/admin/audit")).status).toBe(200);
    expect(fetched).toEqual(["https://team.cloudflareaccess.com/cdn-cgi/access/certs"]);
  });

  it("lets named users operate, and names them in the audit", async () => {
    expect((await ask("/admin/ingest/pause", { method: "POST" })).status).toBe(403);
    expect((await ask("/admin/ingest/pause", { method: "POST", changes: bob })).status).toBe(200);
    const audit = await ask("/admin/audit");
    expect(await audit.json()).toMatchObject({
      entries: [
        { actor: "bob@example.org", outcome: "done" },
        { actor: "ann@example.org", outcome: "refused" },
      ],
    });
  });

  it("logs no JWT, whether it is valid, expired or malformed", async () => {
    const right = await team.sign(Date.now());
    const expired = await team.sign(Date.now() - 7_200_000);
    const malformed = right.slice(0, -5);
    const log = vi.spyOn(console, "log").mockImplementation(() => {});
    try {
      expect((await askWith(right, "/admin/audit")).status).toBe(200);
      expect((await askWith(right, "/admin/ingest/pause", "POST")).status).toBe(403);
      expect((await askWith(expired, "/admin/audit")).status).toBe(401);
      expect((await askWith(malformed, "/admin/audit")).status).toBe(401);
      const lines = JSON.stringify(log.mock.calls);
      expect(lines).toContain("ann@example.org");
      for (const jwt of [right, expired, malformed])
        for (const part of jwt.split(".")) expect(lines).not.toContain(part);
    } finally {
      log.mockRestore();
    }
  });
});
