import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { INGEST_INSTANCE } from "../../../../src/instances.ts";
import { OPERATOR_TOKEN } from "../../../builders/admin-tokens.ts";
import { checkedFetch } from "../../checked-fetch.ts";

function call(method: string, path: string): Promise<Response> {
  const headers = { authorization: `Bearer ${OPERATOR_TOKEN}` };
  return checkedFetch(path, { method, headers });
}

/** Resets the coordinator, which breaks every stub that has been used. */
async function reset(): Promise<void> {
  const stub = env.COORDINATOR.getByName(INGEST_INSTANCE);
  await runInDurableObject(stub, (_, state) => state.abort("reset by a test")).catch(() => {});
}

describe("a coordinator that was reset", () => {
  it("answers the next call, and has forgotten nothing", async () => {
    expect((await call("POST", "/admin/ingest/pause")).status).toBe(200);
    await reset();
    const paused = await call("POST", "/admin/ingest/pause");
    expect(await paused.json()).toMatchObject({ paused: true, changed: false });
    await reset();
    expect((await call("GET", "/admin/ingest/runs")).status).toBe(200);
    await reset();
    expect(await (await call("GET", "/admin/ingest/runs")).json()).toMatchObject({ paused: true });
  });
});
