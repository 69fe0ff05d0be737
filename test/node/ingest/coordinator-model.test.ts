import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { anyOperation, Play } from "../../builders/coordinator-play.ts";

/** What the operations have to lead to, or else they prove little. */
const SEEN_OFTEN = [
  "published",
  "unchanged",
  "dry_run",
  "failed",
  "cancelled",
  "skipped",
  "rollback",
  "ingest_step_failed",
  "history_unreachable",
  "replication_failed",
  "garbage_collected",
  "queue_full",
  "told a time",
  "late manifest",
  "late_manifest_replaced",
];

describe("whatever is done to the coordinator, in whatever order,", () => {
  it("its answers are true, what is served was published, and every run comes to one end", async () => {
    const seen = new Map<string, number>();
    const property = fc.asyncProperty(
      fc.constantFrom(0, 2),
      // Few are flooded: what waits then takes long to come to its end.
      fc.nat(49),
      fc.array(anyOperation, { maxLength: 16, size: "max" }),
      async (versions, flooded, operations) => {
        const play = new Play(seen);
        for (const text of ["first", "second"].slice(0, versions)) await play.publish(text);
        if (flooded === 0) await play.flood();
        for (const each of [{ do: "change", text: "a" } as const, ...operations])
          await play.play(each);
        await play.settle();
      },
    );
    // MODEL_SEED and MODEL_RUNS try others, and more of them.
    await fc.assert(property, {
      seed: Number(process.env["MODEL_SEED"] ?? 20_261_101),
      numRuns: Number(process.env["MODEL_RUNS"] ?? 2_000),
    });
    for (const what of SEEN_OFTEN) expect(seen.get(what) ?? 0, what).toBeGreaterThan(3);
    // Bounds a hang only.
  }, 900_000);
});
