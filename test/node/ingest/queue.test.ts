import { describe, expect, it } from "vitest";
import type { RunRecord } from "../../../src/ingest/run-record.ts";
import type { Pause } from "../../../src/ingest/pause.ts";
import {
  backoffMs,
  decideEnqueue,
  decideTick,
  inTurn,
  newRun,
  nextAlarm,
  nextToStep,
  QUEUE_MAX_DEPTH,
  type QueueView,
  retryOf,
} from "../../../src/ingest/queue.ts";
import type { Stage } from "../../../src/ingest/run.ts";
import { anEnqueueRequest, aQueueView, aRunRecord, someRunFacts } from "../../builders/run.ts";

const wanted = aRunRecord({ id: "wanted" });
const running = aRunRecord({ id: "running", state: "running" });
const waiting = aRunRecord({ id: "waiting" });
const full = aRunRecord({ id: "full", mode: "full" });
const pause: Pause = { at: "2026-11-01T04:00:00.000Z", by: "ops", reason: null, until: null };
const NOW = Date.parse("2026-11-01T04:17:00.000Z");

const inStage = (stage: Stage, record = running): RunRecord => ({
  ...record,
  checkpoint: { ...record.checkpoint, stage },
});

const differing = (count: number) =>
  Array.from({ length: count }, (_, index) =>
    aRunRecord({ id: `other ${index}`, source: `source ${index}` }),
  );

describe("decideEnqueue", () => {
  it("begins a run now when nothing runs or waits", () => {
    expect(
      decideEnqueue(wanted, aQueueView(), { ifPaused: "queue", jobId: null, now: NOW }),
    ).toEqual({
      result: {
        ok: true,
        answer: {
          disposition: "queued",
          willStart: "now",
          queuePosition: 1,
          queueDepth: 1,
          paused: false,
          run: wanted.run,
          message: "The run is queued. It starts now.",
        },
      },
      add: wanted,
    });
  });

  it("says when a second try starts that waits until upstream may be asked again", () => {
    const answerAt = (now: number) => {
      const view = aQueueView({ waiting: [{ ...wanted, notBefore: NOW + 25_000 }] });
      return decideEnqueue(wanted, view, { ifPaused: "queue", jobId: null, now }).result;
    };
    const time = new Date(NOW + 25_000).toISOString();
    expect(answerAt(NOW)).toMatchObject({
      answer: {
        disposition: "coalesced",
        willStart: `at:${time}`,
        message: `The same run waits already. It is a second try, which starts at ${time}.`,
      },
    });
    expect(answerAt(NOW + 25_000)).toMatchObject({ answer: { willStart: "now" } });
  });

  const later: RunRecord = { ...full, notBefore: NOW + 60_000 };
  const decide = (view: QueueView, asked = {}) =>
    decideEnqueue(wanted, view, { ifPaused: "queue", jobId: null, now: NOW, ...asked });

  it("lets a new run take its turn before a second try whose time has not come", () => {
    const second = aRunRecord({ id: "second", source: "other" });
    expect(decide(aQueueView({ waiting: [later] }))).toMatchObject({
      result: {
        answer: { disposition: "queued", willStart: "now", queuePosition: 1, queueDepth: 2 },
      },
      add: wanted,
    });
    expect(decide(aQueueView({ running, waiting: [second, later] }))).toMatchObject({
      result: { answer: { willStart: "after_run:second", queuePosition: 2, queueDepth: 3 } },
    });
    const due = { ...later, notBefore: NOW };
    expect(decide(aQueueView({ waiting: [due] }))).toMatchObject({
      result: { answer: { willStart: "after_run:full", queuePosition: 2 } },
    });
  });

  it("says of a second try behind another run also that it does not start before its time", () => {
    const time = new Date(NOW + 60_000).toISOString();
    const same = { ...wanted, notBefore: NOW + 60_000 };
    for (const view of [{ waiting: [full, same] }, { running: full, waiting: [same] }])
      expect(decide(aQueueView(view)).result).toMatchObject({
        answer: {
          disposition: "coalesced",
          willStart: "after_run:full",
          message: `The same run waits already. It starts after run full, and not before ${time}.`,
        },
      });
  });

  it("queues behind the run under way, also one of the same kind, which may miss what is new", () => {
    expect(
      decideEnqueue(wanted, aQueueView({ running }), {
        ifPaused: "queue",
        jobId: null,
        now: NOW,
      }),
    ).toEqual({
      result: {
        ok: true,
        answer: {
          disposition: "queued_behind_running",
          willStart: "after_run:running",
          queuePosition: 1,
          queueDepth: 1,
          paused: false,
          run: wanted.run,
          message: "The run is queued. It starts after run running.",
        },
      },
      add: wanted,
    });
  });

  it("answers with the run of the same kind that waits already, and adds none", () => {
    expect(
      decideEnqueue(wanted, aQueueView({ waiting: [waiting] }), {
        ifPaused: "queue",
        jobId: null,
        now: NOW,
      }),
    ).toMatchObject({
      result: {
        answer: { disposition: "coalesced", willStart: "now", queuePosition: 1, run: waiting.run },
      },
      add: null,
    });
    const view = aQueueView({ waiting: [waiting], running });
    expect(decideEnqueue(wanted, view, { ifPaused: "queue", jobId: null, now: NOW })).toMatchObject(
      {
        result: {
          answer: {
            disposition: "coalesced",
            willStart: "after_run:running",
            run: waiting.run,
            message: "The same run waits already. It starts after run running.",
          },
        },
        add: null,
      },
    );
  });

  it("finds the run of the same kind behind one of another kind", () => {
    const view = aQueueView({ waiting: [full, waiting], running });
    expect(decideEnqueue(wanted, view, { ifPaused: "queue", jobId: null, now: NOW })).toMatchObject(
      {
        result: {
          answer: {
            disposition: "coalesced",
            willStart: "after_run:full",
            queuePosition: 2,
            queueDepth: 2,
            run: waiting.run,
          },
        },
        add: null,
      },
    );
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
      const view = aQueueView({ waiting: [other], running });
      expect(
        decideEnqueue(wanted, view, { ifPaused: "queue", jobId: null, now: NOW }),
      ).toMatchObject({
        result: {
          answer: {
            disposition: "queued_behind_running",
            willStart: "after_run:waiting",
            queuePosition: 2,
            queueDepth: 2,
            run: wanted.run,
          },
        },
        add: wanted,
      });
    },
  );

  it("says that a run waits for the end of a pause, whatever else it waits for", () => {
    const view = aQueueView({ waiting: [full], running, pause });
    expect(decideEnqueue(wanted, view, { ifPaused: "queue", jobId: null, now: NOW })).toMatchObject(
      {
        result: {
          answer: {
            disposition: "queued_while_paused",
            willStart: "on_resume",
            queuePosition: 2,
            paused: true,
            message: "The run is queued. Ingestion is paused; it starts after resume.",
          },
        },
        add: wanted,
      },
    );
  });

  it("refuses while paused when asked to, and gives the pause", () => {
    expect(
      decideEnqueue(wanted, aQueueView({ pause }), {
        ifPaused: "reject",
        jobId: null,
        now: NOW,
      }),
    ).toEqual({
      result: { ok: false, reason: "paused", pause },
      add: null,
    });
    expect(
      decideEnqueue(wanted, aQueueView(), { ifPaused: "reject", jobId: null, now: NOW }).result.ok,
    ).toBe(true);
  });

  it(`lets ${QUEUE_MAX_DEPTH} runs wait, and refuses one more`, () => {
    const almost = aQueueView({ waiting: differing(QUEUE_MAX_DEPTH - 1) });
    expect(
      decideEnqueue(wanted, almost, { ifPaused: "queue", jobId: null, now: NOW }),
    ).toMatchObject({
      result: { ok: true, answer: { queuePosition: QUEUE_MAX_DEPTH } },
    });
    const full10 = aQueueView({ waiting: differing(QUEUE_MAX_DEPTH) });
    expect(decideEnqueue(wanted, full10, { ifPaused: "queue", jobId: null, now: NOW })).toEqual({
      result: { ok: false, reason: "queue_full", queueDepth: QUEUE_MAX_DEPTH },
      add: null,
    });
  });

  it("answers with the same run also when the queue is full", () => {
    const view = aQueueView({ waiting: [...differing(QUEUE_MAX_DEPTH - 1), waiting] });
    expect(decideEnqueue(wanted, view, { ifPaused: "queue", jobId: null, now: NOW })).toMatchObject(
      {
        result: { ok: true, answer: { disposition: "coalesced", run: { id: "waiting" } } },
        add: null,
      },
    );
  });
});

describe("decideEnqueue behind a job about backups", () => {
  it("says that the run starts after it, or after the run that is ahead", () => {
    const asked = { ifPaused: "queue", jobId: "job", now: NOW } as const;
    expect(decideEnqueue(wanted, aQueueView(), asked)).toMatchObject({
      result: { ok: true, answer: { disposition: "queued", willStart: "after_job:job" } },
      add: wanted,
    });
    expect(decideEnqueue(wanted, aQueueView({ running }), asked)).toMatchObject({
      result: { answer: { willStart: "after_run:running" } },
    });
  });
});

describe("decideTick", () => {
  it("takes a tick when nothing stands in its way, also while a run is under way", () => {
    expect(decideTick(wanted, aQueueView())).toBeNull();
    expect(decideTick(wanted, aQueueView({ running, waiting: [full] }))).toBeNull();
  });

  it("takes a tick while a run waits that works from a candidate", () => {
    const approval = aRunRecord({ id: "approval", candidate_of: "refused" });
    expect(decideTick(wanted, aQueueView({ waiting: [approval] }))).toBeNull();
  });

  it("skips one while paused, while the same run waits, and while the queue is full", () => {
    expect(decideTick(wanted, aQueueView({ pause, waiting: [waiting] }))).toBe("paused");
    expect(decideTick(wanted, aQueueView({ waiting: [waiting] }))).toBe("already_queued");
    const view = aQueueView({ waiting: differing(QUEUE_MAX_DEPTH) });
    expect(decideTick(wanted, view)).toBe("queue_full");
  });
});

describe("nextToStep", () => {
  it("is the run under way, before any that waits, and the oldest of those", () => {
    expect(nextToStep(aQueueView({ running, waiting: [waiting] }), NOW)).toBe(running);
    expect(nextToStep(aQueueView({ waiting: [full, waiting] }), NOW)).toBe(full);
    expect(nextToStep(aQueueView(), NOW)).toBeUndefined();
  });

  it.each(["fetch", "parse", "build", "guard", "encode", "publish"] as const)(
    "is none while paused before %s",
    (stage) => {
      expect(nextToStep(aQueueView({ running: inStage(stage), pause }), NOW)).toBeUndefined();
    },
  );

  it("is the run that is published already, also while paused", () => {
    const verifying = inStage("verify");
    expect(nextToStep(aQueueView({ running: verifying, pause }), NOW)).toBe(verifying);
  });

  it("is none before its time, and lets no other pass it", () => {
    const backingOff = { ...running, notBefore: NOW + 1 };
    const view = aQueueView({ running: backingOff, waiting: [waiting] });
    expect(nextToStep(view, NOW)).toBeUndefined();
    expect(nextToStep(view, NOW + 1)).toBe(backingOff);
  });
});

describe("runs that wait", () => {
  const secondTry: RunRecord = { ...waiting, notBefore: NOW + 60_000 };
  const queuedAt = (ms: number) =>
    aRunRecord({ id: `at ${ms}`, queued_at: new Date(NOW + ms).toISOString() });

  it("take turns as they were queued, a second try as if it was when its time comes", () => {
    const [before, after] = [queuedAt(59_999), queuedAt(60_001)];
    expect(inTurn([secondTry, queuedAt(0), before, after])).toEqual([
      queuedAt(0),
      before,
      secondTry,
      after,
    ]);
  });

  it("are not held up by a second try before its time", () => {
    const view = aQueueView({ waiting: [secondTry, full] });
    expect(nextToStep(view, NOW)).toBe(full);
    expect(nextToStep(aQueueView({ waiting: [secondTry] }), NOW + 59_999)).toBeUndefined();
    expect(nextToStep(view, NOW + 60_000)).toBe(secondTry);
  });

  it("have the alarm set for the first that may begin", () => {
    const alarmFor = (records: readonly RunRecord[]) =>
      nextAlarm(aQueueView({ waiting: records }), { now: NOW, others: [] });
    expect(alarmFor([secondTry])).toBe(NOW + 60_000);
    expect(alarmFor([secondTry, full])).toBe(NOW);
    expect(alarmFor([{ ...secondTry, notBefore: NOW + 70_000 }, secondTry])).toBe(NOW + 60_000);
    const paused = aQueueView({ waiting: [secondTry], pause });
    expect(nextAlarm(paused, { now: NOW, others: [] })).toBeNull();
    const busy = aQueueView({ running, waiting: [full] });
    expect(nextAlarm(busy, { now: NOW, others: [] })).toBe(NOW);
  });
});

describe("nextAlarm", () => {
  const none = { now: NOW, others: [null, null] };

  it("is not set when nothing is to be done", () => {
    expect(nextAlarm(aQueueView(), none)).toBeNull();
    expect(nextAlarm(aQueueView({ running, waiting: [waiting], pause }), none)).toBeNull();
  });

  it("is now for a run that can go on, else when it may be tried again", () => {
    expect(nextAlarm(aQueueView({ waiting: [waiting] }), none)).toBe(NOW);
    const backingOff = { ...running, notBefore: NOW + 4_000 };
    expect(nextAlarm(aQueueView({ running: backingOff, waiting: [waiting] }), none)).toBe(
      NOW + 4_000,
    );
  });

  it("is no later than the back-off of a step, though the clock was set back since", () => {
    const hourAhead = { ...running, notBefore: NOW + 3_600_000 };
    expect(nextAlarm(aQueueView({ running: hourAhead }), none)).toBe(NOW + 60_000);
  });

  it("is when a pause ends by itself", () => {
    const until = { ...pause, until: "2026-11-01T05:00:00.000Z" };
    const view = aQueueView({ pause: until, waiting: [waiting] });
    expect(nextAlarm(view, none)).toBe(Date.parse("2026-11-01T05:00:00.000Z"));
  });

  it("is the earliest of all that is due, and never in the past", () => {
    const backingOff = { ...running, notBefore: NOW + 4_000 };
    const view = aQueueView({ running: backingOff });
    expect(nextAlarm(view, { now: NOW, others: [NOW + 9_000, NOW + 2_000] })).toBe(NOW + 2_000);
    expect(nextAlarm(view, { now: NOW, others: [NOW - 5_000] })).toBe(NOW);
  });
});

describe("newRun", () => {
  it("waits, and says who asked for it and when", () => {
    const request = anEnqueueRequest({ mode: "full", requested_by: "ana", note: "new blobs" });
    const { run, checkpoint, attempts } = newRun(
      someRunFacts({ id: "id", workerVersion: "v7" }),
      request,
    );
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
    expect(retry?.run).toMatchObject({
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
    expect(retried(approval)?.run).toMatchObject({ candidate_of: "refused", upstream });
    const asking = aRunRecord({ id: "asking", upstream });
    expect(retried(asking)?.run).toMatchObject({ candidate_of: null, upstream: {} });
  });

  it("is not made of a forced run, but where what it forces is archived", () => {
    expect(retried(aRunRecord({ forced: true }))).toBeNull();
    const approval = aRunRecord({ forced: true, candidate_of: "refused" });
    expect(retried(approval)?.run).toMatchObject({ forced: true, candidate_of: "refused" });
  });

  it("is not made of a retry", () => {
    const retry = retried(failed);
    expect(retry && retried(retry)).toBeNull();
  });

  it("is not made where a run that would do the same waits already", () => {
    const { mode } = failed.run;
    expect(retried(failed, [waiting, aRunRecord({ mode })])).toBeNull();
    expect(retried(failed, [waiting, aRunRecord({ mode, forced: true })])).not.toBeNull();
  });

  it("is made also where the queue is full", () => {
    expect(retried(failed, differing(QUEUE_MAX_DEPTH))?.run.id).toBe("retry");
  });
});

describe("backoffMs", () => {
  it("doubles from a second up to a minute", () => {
    expect([1, 2, 3, 4, 6, 7, 8, 2000].map(backoffMs)).toEqual([
      1_000, 2_000, 4_000, 8_000, 32_000, 60_000, 60_000, 60_000,
    ]);
  });
});
