import { describe, expect, it } from "vitest";
import { QUEUE_MAX_DEPTH } from "../../../src/coordinator/run-queue.ts";
import {
  candidateFiles,
  REFUSED_KEPT,
  retryOf,
  type RunRecord,
} from "../../../src/coordinator/run-record.ts";
import type { Run } from "../../../src/coordinator/run.ts";
import { aRunRecord, NEW_RUN } from "../../builders/run.ts";

describe("retryOf", () => {
  const failed = aRunRecord({ id: "failed", state: "failed", mode: "full" });
  const other = aRunRecord({ id: "other" });

  const retried = (record: RunRecord, others: readonly RunRecord[] = []) =>
    retryOf(record, others, { ...NEW_RUN, newId: () => "retry" });

  it("uses the date that the request gave the dropped files", () => {
    const dated = { ...failed, job: { ...failed.job, as_of: "2026-02-10" } };
    expect(retried(dated)?.job.as_of).toBe("2026-02-10");
  });

  it("repeats the request of the failed run, and names it as its parent", () => {
    expect(retried(failed)?.job).toMatchObject({
      id: "retry",
      state: "queued",
      trigger: "retry",
      mode: "full",
      forced: false,
      requested_by: "ops",
      attempt: 2,
      parent_run_id: "failed",
      error: null,
    });
  });

  it("builds from the same candidate as the failed run", () => {
    const upstream = { "airports.csv": { sha256: "a", bytes: 1 } };
    const approval = aRunRecord({ id: "approval", candidate_of: "refused", upstream });
    expect(retried(approval)?.job).toMatchObject({ candidate_of: "refused", upstream });
    const asking = aRunRecord({ id: "asking", upstream });
    expect(retried(asking)?.job).toMatchObject({ candidate_of: null, upstream: {} });
  });

  it("makes no retry of a forced run, unless that builds from a candidate", () => {
    expect(retried(aRunRecord({ forced: true }))).toBeNull();
    const approval = aRunRecord({ forced: true, candidate_of: "refused" });
    expect(retried(approval)?.job).toMatchObject({ forced: true, candidate_of: "refused" });
  });

  it("makes no retry of a run that is a retry itself", () => {
    const retry = retried(failed);
    expect(retry && retried(retry)).toBeNull();
  });

  it("makes no retry while an equivalent run waits", () => {
    const { mode } = failed.job;
    expect(retried(failed, [other, aRunRecord({ mode })])).toBeNull();
    expect(retried(failed, [other, aRunRecord({ mode, forced: true })])).not.toBeNull();
  });

  it("makes a retry even if the queue is full", () => {
    const many = Array.from({ length: QUEUE_MAX_DEPTH }, (_, index) =>
      aRunRecord({ id: `other ${index}`, source: `source ${index}` }),
    );
    expect(retried(failed, many)?.job.id).toBe("retry");
  });
});

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
