import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import worker from "../../../../src/worker.ts";
import { checkedFetch } from "../../checked-fetch.ts";

/** The Worker with a secret that is not what it must be. */
async function ask(url: string, init: RequestInit<IncomingRequestCfProperties> = {}) {
  return worker.fetch(new Request(url, init), { ...env, ADMIN_TOKENS: "[{]" });
}

describe("a malformed ADMIN_TOKENS", () => {
  it("closes the admin routes, and no other door", async () => {
    const admin = await checkedFetch("/admin/ingest/runs", {}, ask);
    expect(admin.status).toBe(503);
    expect(await admin.json()).toMatchObject({ code: "admin_misconfigured" });
    const credits = await checkedFetch("/credits", {}, ask);
    expect(credits.status).toBe(200);
    const rpc = await ask("https://locations.test/locations.v1.LocationsService/GetLocationsV1", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: '{"locale":"not a locale"}',
    });
    expect(rpc.status).toBe(400);
    expect(await rpc.json()).toMatchObject({ code: "invalid_argument" });
  });
});
