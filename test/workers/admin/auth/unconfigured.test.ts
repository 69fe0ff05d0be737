import { env } from "cloudflare:workers";
import { describe, expect, it, vi } from "vitest";
import worker from "../../../../src/worker.ts";
import { checkedFetch } from "../../checked-fetch.ts";

const SENT = "s3cr3t-t0ken-9f2c";

/** The Worker to which no secret was given. */
async function ask(url: string) {
  const bindings = { ...env };
  Reflect.deleteProperty(bindings, "ADMIN_TOKENS");
  const headers = { authorization: `Bearer ${SENT}` };
  return worker.fetch(new Request(url, { headers }), bindings);
}

describe("a Worker without ADMIN_TOKENS", () => {
  it("closes the admin routes, says what to set, and logs no token", async () => {
    const log = vi.spyOn(console, "log").mockImplementation(() => {});
    try {
      for (const path of ["/admin/ingest/runs", "/admin/audit", "/admin/unknown"]) {
        const answer = await ask(`https://locations.test${path}`);
        expect(answer.status).toBe(503);
        expect(await answer.json()).toMatchObject({
          code: "admin_unconfigured",
          detail: expect.stringContaining("ADMIN_TOKENS"),
        });
      }
      const lines = log.mock.calls.join("\n");
      expect(lines).toContain("unconfigured");
      expect(lines).not.toContain(SENT);
    } finally {
      log.mockRestore();
    }
  });

  it("serves what is public", async () => {
    expect((await checkedFetch("/credits", {}, ask)).status).toBe(200);
  });
});
