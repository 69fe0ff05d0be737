import { describe, expect, it } from "vitest";
import type { RunRecord } from "../../../src/coordinator/run-record.ts";
import type { Pause } from "../../../src/schemas/pause.ts";
import {
  decideEnqueue,
  decideTick,
  describeQueue,
  QUEUE_MAX_DEPTH,
} from "../../../src/coordinator/run-queue.ts";
import { toListed } from "../../../src/schemas/run.ts";
import type { Queue } from "../../../src/coordinator/jobs.ts";
import { aBackupRecord } from "../../builders/job.ts";
import { aQueue, aRunRecord } from "../../builders/run.ts";

const wanted = aRunRecord({ id: "wanted" });
const running = aRunRecord({ id: "running", state: "running" });
const waiting = aRunRecord({ id: "waiting" });
const full = aRunRecord({ id: "full", mode: "full" });
const pause: Pause = { at: "2026-11-01T04:00:00.000Z", by: "ops", note: null, until: null };
const NOW = Date.parse("2026-11-01T04:17:00.000Z");

const differing = (count: number) =>
  Array.from({ length: count }, (_, index) =>
    aRunRecord({ id: `other ${index}`, source: `source ${index}` }),
  );

const decide = (queue: Queue, options = {}) =>
  decideEnqueue(wanted, queue, { ifPaused: "queue", earlier: undefined, now: NOW, ...options });

const STARTS = new Date(NOW + 60_000).toISOString();
/** The run that is wanted, and another, as second tries whose time has not come. */
const second: RunRecord = { ...waiting, notBefore: NOW + 60_000 };
const later: RunRecord = { ...full, notBefore: NOW + 60_000 };
const backup = aBackupRecord({ id: "job", state: "running" });
const restore = { ...backup, leavesPause: true };
const backups = ["backup 1", "backup 2"].map((id) =>
  aBackupRecord({ id, queued_at: "2026-11-01T04:00:00.000Z" }),
);
const other = aRunRecord({ id: "other", source: "other" });

const due: RunRecord = { ...later, notBefore: NOW };

describe("decideEnqueue", () => {
  it.each([
    ["now when nothing runs or waits", {}, "now", 1],
    [
      "after the run in progress, also of the same kind",
      { running: [running] },
      "after_run:running",
      1,
    ],
    ["after the last that waits", { running: [running], waiting: [full] }, "after_run:full", 2],
    ["before a second try that is not due", { waiting: [later] }, "now", 1],
    ["before a second try of its own that is not due", { waiting: [second] }, "now", 1],
    [
      "after the run in progress, before such a retry",
      { running: [full], waiting: [second] },
      "after_run:full",
      1,
    ],
    ["between a run and such a try", { waiting: [other, later] }, "after_run:other", 2],
    ["after a second try that is due", { waiting: [due] }, "after_run:full", 2],
    ["after a backup job", { running: [backup] }, "after_job:job", 1],
    ["after a run that waits for one", { running: [backup], waiting: [full] }, "after_run:full", 2],
    [
      "after a pause, whatever else waits",
      { running: [running], waiting: [full], pause },
      "on_resume",
      2,
    ],
  ] as const)("adds a run that starts %s", (_, queue, will_start, queue_position) => {
    const { result, add } = decide(aQueue(queue));
    expect(add).toBe(wanted);
    expect(result).toMatchObject({
      ok: true,
      answer: {
        changed: true,
        will_start,
        queue_position,
        queue_depth: ("waiting" in queue ? queue.waiting.length : 0) + 1,
        paused: "pause" in queue,
        run: toListed(wanted.job),
      },
    });
  });

  it.each([
    ["waits", { waiting: [waiting] }, "now", 1],
    ["waits for a run", { running: [running], waiting: [waiting] }, "after_run:running", 1],
    ["waits behind one of another kind", { waiting: [full, waiting] }, "after_run:full", 2],
    ["was a second try", { waiting: [{ ...second, notBefore: NOW }] }, "now", 1],
    [
      "is a second try behind another run",
      { waiting: [full, { ...second, notBefore: NOW }] },
      "after_run:full",
      2,
    ],
    ["waits in a full queue", { waiting: [...differing(9), waiting] }, "after_run:other 8", 10],
  ] as const)(
    "answers with the waiting run and adds none if that %s",
    (_, queue, will_start, at) => {
      expect(decide(aQueue(queue))).toMatchObject({
        result: {
          answer: { changed: false, will_start, queue_position: at, run: { id: "waiting" } },
        },
        add: null,
      });
    },
  );

  it.each([
    [{}, "The run is queued. It starts now."],
    [{ waiting: [waiting] }, "The same run was queued before. It starts now."],
    [
      { running: [restore], waiting: [full] },
      "pauses ingestion, so that it also waits for resume.",
    ],
    [{ pause }, "Ingestion is paused; the run starts when the pause ends."],
  ])("gives the reason for its answer: %#", (queue, message) => {
    expect(decide(aQueue(queue)).result).toMatchObject({
      answer: { message: expect.stringContaining(message) },
    });
  });

  it.each([
    { mode: "full" },
    { source: "other" },
    { as_of: "2026-02-10" },
    { forced: true },
    { candidate_of: "refused" },
  ] as const)("treats a waiting run with %j as a different one", (changes) => {
    const unlike = aRunRecord({ id: "waiting", ...changes });
    expect(decide(aQueue({ waiting: [unlike], running: [running] }))).toMatchObject({
      result: { answer: { will_start: "after_run:waiting", run: toListed(wanted.job) } },
      add: wanted,
    });
  });

  it("refuses a request that must not wait for the end of a pause, and returns the pause", () => {
    for (const others of [[], [waiting]])
      expect(decide(aQueue({ pause, waiting: others }), { ifPaused: "reject" })).toEqual({
        result: { ok: false, reason: "paused", pause },
        add: null,
      });
    expect(decide(aQueue(), { ifPaused: "reject" }).result.ok).toBe(true);
  });

  it(`lets ${QUEUE_MAX_DEPTH} runs wait and refuses another`, () => {
    const almost = aQueue({ waiting: differing(QUEUE_MAX_DEPTH - 1) });
    expect(decide(almost)).toMatchObject({
      result: { ok: true, answer: { queue_position: QUEUE_MAX_DEPTH } },
    });
    for (const queue_depth of [QUEUE_MAX_DEPTH, QUEUE_MAX_DEPTH + 1])
      expect(decide(aQueue({ waiting: differing(queue_depth) }))).toEqual({
        result: { ok: false, reason: "queue_full", queue_depth },
        add: null,
      });
  });

  it("counts runs alone, whatever backup jobs wait beside them", () => {
    const runs = differing(QUEUE_MAX_DEPTH - 1);
    expect(decide(aQueue({ waiting: [...backups, ...runs] }))).toMatchObject({
      result: { answer: { queue_position: QUEUE_MAX_DEPTH, queue_depth: QUEUE_MAX_DEPTH } },
      add: wanted,
    });
  });
});

describe("describeQueue", () => {
  it.each([
    [{ waiting: [second] }, `at:${STARTS}`, `It is a retry, which starts at ${STARTS}.`],
    [
      { running: [full], waiting: [second] },
      "after_run:full",
      `It starts after run full, but not before ${STARTS}.`,
    ],
  ])("says when a retry that is not due starts: %#", (queue, will_start, message) => {
    expect(describeQueue(aQueue(queue), NOW)).toMatchObject([{ will_start, message }]);
  });
});

describe("decideTick", () => {
  it("takes a tick while other runs wait or are in progress", () => {
    expect(decideTick(wanted, aQueue())).toBeNull();
    expect(decideTick(wanted, aQueue({ running: [running], waiting: [full] }))).toBeNull();
  });

  it("takes a tick while a run from a candidate waits", () => {
    const approval = aRunRecord({ id: "approval", candidate_of: "refused" });
    expect(decideTick(wanted, aQueue({ waiting: [approval] }))).toBeNull();
  });

  it("takes a tick while backup jobs wait beside one run less than the queue holds", () => {
    const runs = differing(QUEUE_MAX_DEPTH - 1);
    expect(decideTick(wanted, aQueue({ waiting: [...backups, ...runs] }))).toBeNull();
  });

  it("skips a tick during a pause, while the same run waits, and while the queue is full", () => {
    expect(decideTick(wanted, aQueue({ pause, waiting: [waiting] }))).toBe("paused");
    expect(decideTick(wanted, aQueue({ waiting: [waiting] }))).toBe("already_queued");
    const view = aQueue({ waiting: differing(QUEUE_MAX_DEPTH) });
    expect(decideTick(wanted, view)).toBe("queue_full");
  });
});
