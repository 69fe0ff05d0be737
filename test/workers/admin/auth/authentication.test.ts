import { env } from "cloudflare:workers";
import { describe, expect, it, vi } from "vitest";
import { checkedFetch } from "../../checked-fetch.ts";

describe("the tokens of the secret ADMIN_TOKENS", () => {
  it.each([
    ["missing", undefined, "admin_unconfigured"],
    ["malformed", "[{]", "admin_misconfigured"],
  ])("close only the admin routes when they are %s", async (_, tokens, code) => {
    vi.resetModules();
    const { default: worker } = await import("../../../../src/worker/worker.ts");
    const bindings = { ...env, ADMIN_TOKENS: tokens } as Env; // a secret that is not set
    const headers = { authorization: "Bearer s3cr3t" };
    const ask = async (url: string) => worker.fetch(new Request(url, { headers }), bindings);
    const log = vi.spyOn(console, "log").mockImplementation(() => {});
    try {
      const answer = await checkedFetch("/admin/ingest/runs", {}, ask);
      expect(answer.status).toBe(503);
      expect(await answer.json()).toMatchObject({ code });
      expect((await checkedFetch("/credits", {}, ask)).status).toBe(200);
      expect(log.mock.calls.join("\n")).toContain(code);
      expect(log.mock.calls.join("\n")).not.toContain("s3cr3t");
    } finally {
      log.mockRestore();
      vi.resetModules(); // an isolate reads its secrets once
    }
  });
});

describe("repeated failures", () => {
  it("lead to 429 by address", async () => {
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
