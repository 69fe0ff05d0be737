import { describe, expect, it } from "vitest";
import { candidateFiles, REFUSED_KEPT } from "../../../src/coordinator/run-queue.ts";
import type { Run } from "../../../src/coordinator/run.ts";
import { aRunRecord } from "../../builders/run.ts";

const filesOf = (name: string) => ({ "airports.csv": { sha256: name, bytes: 1 } });
const REFUSAL = { code: "guard_shrink", stage: "guard", message: "airports 60 → 30" } as const;

/** A run that has archived a file of its own. */
const aRun = (id: string, changes: Partial<Run> = {}): Run =>
  aRunRecord({ id, upstream: filesOf(id), ...changes }).job;
const refused = (id: string) => aRun(id, { state: "failed", error: REFUSAL });

const kept = (...runs: readonly Run[]) =>
  candidateFiles(runs).map((files) => files["airports.csv"]?.sha256);

describe("candidateFiles", () => {
  it("returns the files of open runs and of runs that guards refused", () => {
    const open = [aRun("waits"), aRun("runs", { state: "running" })];
    expect(kept(...open, refused("refused"))).toEqual(["waits", "runs", "refused"]);
  });

  it.each<[string, Partial<Run>]>([
    ["succeeded", { state: "succeeded", outcome: "dry_run" }],
    ["was cancelled", { state: "cancelled" }],
    [
      "failed before it was judged",
      { state: "failed", error: { ...REFUSAL, code: "source_not_csv", stage: "parse" } },
    ],
    ["failed while it was judged", { state: "failed", error: { ...REFUSAL, code: "store_fault" } }],
  ])("omits the files of a run that %s", (_, changes) => {
    expect(kept(aRun("ended", changes))).toEqual([]);
  });

  it(`returns those of the newest ${REFUSED_KEPT} refused runs, whatever runs came in between`, () => {
    const ids = Array.from({ length: REFUSED_KEPT + 2 }, (_, index) => `refused ${index}`);
    const runs = ids.flatMap((id) => [refused(id), aRun("between", { state: "succeeded" })]);
    expect(kept(...runs)).toEqual(ids.slice(0, REFUSED_KEPT));
  });
});
