import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it } from "vitest";
import type { Run } from "../../../src/ingest/run.ts";
import { dropKey, sourceKey } from "../../../src/storage/keys.ts";
import { OPERATOR_TOKEN } from "../../builders/admin-tokens.ts";
import { checkedFetch } from "../checked-fetch.ts";
import {
  historyRows,
  RUN_TIMEOUT_MS,
  runEnded,
  runToEnd,
  servedManifest,
  settled,
} from "./coordinator-under-test.ts";
import { dropAirports, SMALL_AIRPORTS } from "./small-world.ts";

const HALF = SMALL_AIRPORTS / 2;

let refused: Run;

/** Asks for a run over HTTP, as operators do. */
async function queue(body: object): Promise<{ status: number; run: { id: string } }> {
  const answer = await checkedFetch("/admin/ingest/queue", {
    method: "POST",
    headers: { authorization: `Bearer ${OPERATOR_TOKEN}`, "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  const { run } = await answer.json<{ run: { id: string } }>();
  return { status: answer.status, run };
}

beforeAll(async () => {
  await dropAirports(SMALL_AIRPORTS);
  await runToEnd({ source: "dropped" });
  await dropAirports(HALF);
  refused = await runToEnd({ source: "dropped" });
  await env.ARCHIVE.delete([dropKey("airports.csv"), dropKey("regions.csv.gz")]);
}, RUN_TIMEOUT_MS);

describe("a candidate that guards have refused", { timeout: RUN_TIMEOUT_MS }, () => {
  it("outlives the collection of garbage", async () => {
    expect(refused.error?.code).toBe("guard_shrink");
    await settled();
    for (const { sha256 } of Object.values(refused.upstream))
      expect(await env.ARCHIVE.head(sourceKey(sha256))).not.toBeNull();
  });

  it("is published when it is approved, though upstream has nothing any more", async () => {
    const { status, run } = await queue({ candidate_of: refused.id, force: true });
    expect(status).toBe(202);
    expect(await runEnded(run.id)).toMatchObject({
      outcome: "published",
      source: "dropped",
      candidate_of: refused.id,
      upstream: refused.upstream,
    });
    expect(await servedManifest()).toMatchObject({ generation: 2, counts: { airports: HALF } });
    await settled();
    expect((await historyRows()).at(-1)).toMatchObject({ candidate_of: refused.id });
  });
});
