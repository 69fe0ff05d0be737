import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import worker from "../../../src/worker.ts";

/** An answer of the Worker with a secret that is not what it must be. */
async function answerOf(request: Request<unknown, IncomingRequestCfProperties>): Promise<Response> {
  return worker.fetch(request, { ...env, ADMIN_TOKENS: "[{]" });
}

describe("a malformed ADMIN_TOKENS", () => {
  it("closes the admin routes, and no other door", async () => {
    const admin = await answerOf(new Request("https://locations.test/admin/ingest/runs"));
    expect(admin.status).toBe(503);
    expect(await admin.json()).toMatchObject({ code: "admin_misconfigured" });
    const credits = await answerOf(new Request("https://locations.test/credits"));
    expect(credits.status).toBe(200);
    const rpc = await answerOf(
      new Request("https://locations.test/locations.v1.LocationsService/GetLocationsV1", {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: '{"locale":"not a locale"}',
      }),
    );
    expect(rpc.status).toBe(400);
    expect(await rpc.json()).toMatchObject({ code: "invalid_argument" });
  });
});
