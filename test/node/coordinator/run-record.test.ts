import { describe, expect, it } from "vitest";
import { QUEUE_MAX_DEPTH } from "../../../src/coordinator/run-queue.ts";
import { retryOf, type RunRecord } from "../../../src/coordinator/run-record.ts";
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
    expect(retried(asking)?.job.candidate_of).toBeNull();
    expect(retried(asking)?.job.upstream).toEqual({});
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
