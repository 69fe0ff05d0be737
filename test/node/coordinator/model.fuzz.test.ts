import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { anyOperation } from "../../builders/coordinator-operations.ts";
import { Play } from "../../builders/coordinator-play.ts";
import { fuzzed, UNHURRIED } from "../../builders/fuzzed.ts";

/** What the operations have to lead to, or else they prove little. */
const TO_BE_SEEN = [
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
];

/** Sequences that it takes to see the rest of that, also where fewer are asked for. */
const FEWEST = 200;

describe("the coordinator, whatever is done to it in whatever order,", UNHURRIED, () => {
  it("answers truthfully, serves what was published, and brings every run to one end", async () => {
    const seen = new Map<string, number>();
    const property = fc.asyncProperty(
      fc.constantFrom(0, 2),
      fc.array(anyOperation, { maxLength: 16, size: "max" }),
      async (versions, operations) => {
        const play = new Play(seen);
        for (const text of ["first", "second"].slice(0, versions)) await play.publish(text);
        for (const operation of [{ do: "change", text: "a" } as const, ...operations])
          await play.play(operation);
        await play.settle();
      },
    );
    const settings = fuzzed(FEWEST);
    await fc.assert(property, { ...settings, numRuns: Math.max(settings.numRuns ?? 0, FEWEST) });
    for (const what of TO_BE_SEEN) expect(seen.get(what) ?? 0, what).toBeGreaterThan(0);
  });
});
