import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { INGEST_INSTANCE } from "../../../src/platform/instances.ts";
import { admin } from "../checked-fetch.ts";

/** Resets the coordinator, which breaks every stub that has been used. */
async function reset(): Promise<void> {
  const stub = env.COORDINATOR.getByName(INGEST_INSTANCE);
  await runInDurableObject(stub, (_, state) => state.abort("reset by a test")).catch(() => {});
}

describe("a coordinator after a reset", () => {
  it("answers the next call and has lost nothing", async () => {
    expect((await admin("POST", "/admin/ingest/pause")).status).toBe(200);
    await reset();
    const paused = await admin("POST", "/admin/ingest/pause");
    expect(await paused.json()).toMatchObject({ paused: true, changed: false });
    await reset();
    expect((await admin("GET", "/admin/ingest/runs")).status).toBe(200);
    await reset();
    expect(await (await admin("GET", "/admin/ingest/runs")).json()).toMatchObject({ paused: true });
  });
});
