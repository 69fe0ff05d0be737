import { describe, expect, it } from "vitest";
import type { RunRecord } from "../../../src/ingest/run-record.ts";
import type { Pause } from "../../../src/jobs/pause.ts";
import {
  decideEnqueue,
  decideTick,
  newRun,
  QUEUE_MAX_DEPTH,
  retryOf,
} from "../../../src/ingest/queue.ts";
import type { Queue } from "../../../src/jobs/queue.ts";
import { aBackupRecord } from "../../builders/job.ts";
import { anEnqueueRequest, aQueue, aRunRecord, someRunFacts } from "../../builders/run.ts";

const wanted = aRunRecord({ id: "wanted" });
const running = aRunRecord({ id: "running", state: "running" });
const waiting = aRunRecord({ id: "waiting" });
const full = aRunRecord({ id: "full", mode: "full" });
const pause: Pause = { at: "2026-11-01T04:00:00.000Z", by: "ops", reason: null, until: null };
const NOW = Date.parse("2026-11-01T04:17:00.000Z");

const differing = (count: number) =>
  Array.from({ length: count }, (_, index) =>
    aRunRecord({ id: `other ${index}`, source: `source ${index}` }),
  );

const decide = (queue: Queue, asked = {}) =>
  decideEnqueue(wanted, queue, { ifPaused: "queue", now: NOW, ...asked });

describe("decideEnqueue", () => {
  it("begins a run now when nothing runs or waits", () => {
    expect(decide(aQueue())).toEqual({
      result: {
        ok: true,
        answer: {
          disposition: "queued",
          willStart: "now",
          queuePosition: 1,
          queueDepth: 1,
          paused: false,
          run: wanted.job,
          message: "The run is queued. It starts now.",
        },
      },
      add: wanted,
    });
  });

  it("says when a second try starts that waits until upstream may be asked again", () => {
    const answerAt = (now: number) => {
      const view = aQueue({ waiting: [{ ...wanted, notBefore: NOW + 25_000 }] });
      return decideEnqueue(wanted, view, { ifPaused: "queue", now }).result;
    };
    const time = new Date(NOW + 25_000).toISOString();
    expect(answerAt(NOW)).toMatchObject({
      answer: {
        disposition: "coalesced",
        willStart: `at:${time}`,
        message: `The same run is already queued. It is a retry, which starts at ${time}.`,
      },
    });
    expect(answerAt(NOW + 25_000)).toMatchObject({ answer: { willStart: "now" } });
  });

  const later: RunRecord = { ...full, notBefore: NOW + 60_000 };

  it("lets a new run take its turn before a second try whose time has not come", () => {
    const second = aRunRecord({ id: "second", source: "other" });
    expect(decide(aQueue({ waiting: [later] }))).toMatchObject({
      result: {
        answer: { disposition: "queued", willStart: "now", queuePosition: 1, queueDepth: 2 },
      },
      add: wanted,
    });
    expect(decide(aQueue({ running: [running], waiting: [second, later] }))).toMatchObject({
      result: { answer: { willStart: "after_run:second", queuePosition: 2, queueDepth: 3 } },
    });
    const due = { ...later, notBefore: NOW };
    expect(decide(aQueue({ waiting: [due] }))).toMatchObject({
      result: { answer: { willStart: "after_run:full", queuePosition: 2 } },
    });
  });

  it("says of a second try behind another run also that it does not start before its time", () => {
    const time = new Date(NOW + 60_000).toISOString();
    const same = { ...wanted, notBefore: NOW + 60_000 };
    for (const view of [{ waiting: [full, same] }, { running: [full], waiting: [same] }])
      expect(decide(aQueue(view)).result).toMatchObject({
        answer: {
          disposition: "coalesced",
          willStart: "after_run:full",
          message: `The same run is already queued. It starts after run full, but not before ${time}.`,
        },
      });
  });

  it("queues behind the run under way, also one of the same kind, which may miss what is new", () => {
    expect(decide(aQueue({ running: [running] }))).toEqual({
      result: {
        ok: true,
        answer: {
          disposition: "queued_behind_running",
          willStart: "after_run:running",
          queuePosition: 1,
          queueDepth: 1,
          paused: false,
          run: wanted.job,
          message: "The run is queued. It starts after run running.",
        },
      },
      add: wanted,
    });
  });

  it("answers with the run of the same kind that waits already, and adds none", () => {
    expect(decide(aQueue({ waiting: [waiting] }))).toMatchObject({
      result: {
        answer: { disposition: "coalesced", willStart: "now", queuePosition: 1, run: waiting.job },
      },
      add: null,
    });
    const view = aQueue({ waiting: [waiting], running: [running] });
    expect(decide(view)).toMatchObject({
      result: {
        answer: {
          disposition: "coalesced",
          willStart: "after_run:running",
          run: waiting.job,
          message: "The same run is already queued. It starts after run running.",
        },
      },
      add: null,
    });
  });

  it("finds the run of the same kind behind one of another kind", () => {
    const view = aQueue({ waiting: [full, waiting], running: [running] });
    expect(decide(view)).toMatchObject({
      result: {
        answer: {
          disposition: "coalesced",
          willStart: "after_run:full",
          queuePosition: 2,
          queueDepth: 2,
          run: waiting.job,
        },
      },
      add: null,
    });
  });

  it.each([
    { mode: "full" },
    { source: "other" },
    { forced: true },
    { candidate_of: "refused" },
  ] as const)(
    "does not take a waiting run with %j for the same, and starts after it",
    (changes) => {
      const other = aRunRecord({ id: "waiting", ...changes });
      const view = aQueue({ waiting: [other], running: [running] });
      expect(decide(view)).toMatchObject({
        result: {
          answer: {
            disposition: "queued_behind_running",
            willStart: "after_run:waiting",
            queuePosition: 2,
            queueDepth: 2,
            run: wanted.job,
          },
        },
        add: wanted,
      });
    },
  );

  it("says that a run waits for the end of a pause, whatever else it waits for", () => {
    const view = aQueue({ waiting: [full], running: [running], pause });
    expect(decide(view)).toMatchObject({
      result: {
        answer: {
          disposition: "queued_while_paused",
          willStart: "on_resume",
          queuePosition: 2,
          paused: true,
          message: "The run is queued. Ingestion is paused; the run starts after resume.",
        },
      },
      add: wanted,
    });
  });

  it("refuses while paused when asked to, and gives the pause", () => {
    for (const others of [[], [waiting]])
      expect(decide(aQueue({ pause, waiting: others }), { ifPaused: "reject" })).toEqual({
        result: { ok: false, reason: "paused", pause },
        add: null,
      });
    expect(decide(aQueue(), { ifPaused: "reject" }).result.ok).toBe(true);
  });

  it(`lets ${QUEUE_MAX_DEPTH} runs wait, and refuses one more`, () => {
    const almost = aQueue({ waiting: differing(QUEUE_MAX_DEPTH - 1) });
    expect(decide(almost)).toMatchObject({
      result: { ok: true, answer: { queuePosition: QUEUE_MAX_DEPTH } },
    });
    for (const queueDepth of [QUEUE_MAX_DEPTH, QUEUE_MAX_DEPTH + 1])
      expect(decide(aQueue({ waiting: differing(queueDepth) }))).toEqual({
        result: { ok: false, reason: "queue_full", queueDepth },
        add: null,
      });
  });

  it("answers with the same run also when the queue is full", () => {
    const view = aQueue({ waiting: [...differing(QUEUE_MAX_DEPTH - 1), waiting] });
    expect(decide(view)).toMatchObject({
      result: { ok: true, answer: { disposition: "coalesced", run: { id: "waiting" } } },
      add: null,
    });
  });
});

describe("decideEnqueue behind a job about backups", () => {
  const job = aBackupRecord({ id: "job", state: "running" });

  it("says that the run starts after it, or after the run that is ahead", () => {
    expect(decide(aQueue({ running: [job] }))).toMatchObject({
      result: { ok: true, answer: { disposition: "queued", willStart: "after_job:job" } },
      add: wanted,
    });
    expect(decide(aQueue({ running: [job], waiting: [full] }))).toMatchObject({
      result: { answer: { willStart: "after_run:full", queuePosition: 2 } },
    });
  });
});

describe("decideTick", () => {
  it("takes a tick when nothing stands in its way, also while a run is under way", () => {
    expect(decideTick(wanted, aQueue())).toBeNull();
    expect(decideTick(wanted, aQueue({ running: [running], waiting: [full] }))).toBeNull();
  });

  it("takes a tick while a run waits that works from a candidate", () => {
    const approval = aRunRecord({ id: "approval", candidate_of: "refused" });
    expect(decideTick(wanted, aQueue({ waiting: [approval] }))).toBeNull();
  });

  it("skips one while paused, while the same run waits, and while the queue is full", () => {
    expect(decideTick(wanted, aQueue({ pause, waiting: [waiting] }))).toBe("paused");
    expect(decideTick(wanted, aQueue({ waiting: [waiting] }))).toBe("already_queued");
    const view = aQueue({ waiting: differing(QUEUE_MAX_DEPTH) });
    expect(decideTick(wanted, view)).toBe("queue_full");
  });
});

describe("newRun", () => {
  it("waits, and says who asked for it and when", () => {
    const request = anEnqueueRequest({ mode: "full", requested_by: "ana", note: "new blobs" });
    const {
      job: run,
      checkpoint,
      attempts,
    } = newRun(someRunFacts({ id: "id", workerVersion: "v7" }), request);
    expect(run).toMatchObject({
      id: "id",
      state: "queued",
      outcome: null,
      trigger: "manual",
      mode: "full",
      source: "embedded",
      requested_by: "ana",
      note: "new blobs",
      started_at: null,
      queued_at: "2026-11-01T04:17:00.000Z",
      finished_at: null,
      error: null,
      attempt: 1,
      parent_run_id: null,
      worker_version: "v7",
    });
    expect(checkpoint.stage).toBe("fetch");
    expect(attempts).toBe(0);
  });
});

describe("retryOf", () => {
  const failed = aRunRecord({ id: "failed", state: "failed", mode: "full" });

  const retried = (record: RunRecord, others: readonly RunRecord[] = []) => {
    const made = someRunFacts({ id: "retry" });
    return retryOf(record, { made, waiting: others, notBefore: NOW + 60_000 });
  };

  it("does what the failed run was to do, names it, and waits until its time", () => {
    const retry = retried(failed);
    expect(retry?.notBefore).toBe(NOW + 60_000);
    expect(retry?.job).toMatchObject({
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

  it("works from the same candidate, also after that run is forgotten", () => {
    const upstream = { "airports.csv": { sha256: "a", bytes: 1 } };
    const approval = aRunRecord({ id: "approval", candidate_of: "refused", upstream });
    expect(retried(approval)?.job).toMatchObject({ candidate_of: "refused", upstream });
    const asking = aRunRecord({ id: "asking", upstream });
    expect(retried(asking)?.job).toMatchObject({ candidate_of: null, upstream: {} });
  });

  it("is not made of a forced run, but where what it forces is archived", () => {
    expect(retried(aRunRecord({ forced: true }))).toBeNull();
    const approval = aRunRecord({ forced: true, candidate_of: "refused" });
    expect(retried(approval)?.job).toMatchObject({ forced: true, candidate_of: "refused" });
  });

  it("is not made of a retry", () => {
    const retry = retried(failed);
    expect(retry && retried(retry)).toBeNull();
  });

  it("is not made where a run that would do the same waits already", () => {
    const { mode } = failed.job;
    expect(retried(failed, [waiting, aRunRecord({ mode })])).toBeNull();
    expect(retried(failed, [waiting, aRunRecord({ mode, forced: true })])).not.toBeNull();
  });

  it("is made also where the queue is full", () => {
    expect(retried(failed, differing(QUEUE_MAX_DEPTH))?.job.id).toBe("retry");
  });
});
