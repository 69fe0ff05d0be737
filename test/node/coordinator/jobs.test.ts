import { describe, expect, it } from "vitest";
import type { RunRecord } from "../../../src/coordinator/run-record.ts";
import type { Pause } from "../../../src/schemas/pause.ts";
import {
  backoffMs,
  inStartingOrder,
  nextAlarm,
  nextToStep,
  queueOf,
} from "../../../src/coordinator/jobs.ts";
import { aBackupRecord } from "../../builders/job.ts";
import { aQueue, aRunRecord } from "../../builders/run.ts";

const running = aRunRecord({ id: "running", state: "running" });
const waiting = aRunRecord({ id: "waiting" });
const full = aRunRecord({ id: "full", mode: "full" });
const pause: Pause = { at: "2026-11-01T04:00:00.000Z", by: "ops", note: null, until: null };
const NOW = Date.parse("2026-11-01T04:17:00.000Z");

describe("nextToStep", () => {
  it("selects the run in progress before waiting runs, and the oldest of those first", () => {
    expect(nextToStep(aQueue({ running: [running], waiting: [waiting] }), NOW)).toBe(running);
    expect(nextToStep(aQueue({ waiting: [full, waiting] }), NOW)).toBe(full);
    expect(nextToStep(aQueue(), NOW)).toBeUndefined();
  });

  it("selects during a pause only a run that has published or that is to be cancelled", () => {
    expect(
      nextToStep(aQueue({ running: [running], waiting: [waiting], pause }), NOW),
    ).toBeUndefined();
    for (const change of [
      { isCommitted: true },
      {
        job: {
          ...running.job,
          cancellation: { by: "ops", at: "2026-11-01T04:00:00.000Z", note: null },
        },
      },
    ]) {
      const ending = { ...running, ...change };
      expect(nextToStep(aQueue({ running: [ending], pause }), NOW)).toBe(ending);
    }
  });

  it("selects a waiting backup job while a pause holds the run in progress", () => {
    const backup = aBackupRecord({ id: "backup" });
    const queue = aQueue({ running: [running], waiting: [waiting, backup], pause });
    expect(nextToStep(queue, NOW)).toBe(backup);
    expect(nextAlarm(queue, { now: NOW, others: [] })).toBe(NOW);
    expect(nextToStep({ ...queue, pause: null }, NOW)).toBe(running);
  });

  it("selects the job that started last after the pause of the run that it passed", () => {
    const first = aRunRecord({ state: "running", started_at: "2026-11-01T04:00:00.000Z" });
    const last = aBackupRecord({ state: "running", started_at: "2026-11-01T04:10:00.000Z" });
    expect(nextToStep(queueOf([first, last], null), NOW)).toBe(last);
    expect(nextToStep(queueOf([last, first], null), NOW)).toBe(last);
  });

  it("selects nothing during the back-off of the run in progress", () => {
    const backingOff = { ...running, notBefore: NOW + 1 };
    const view = aQueue({ running: [backingOff], waiting: [waiting] });
    expect(nextToStep(view, NOW)).toBeUndefined();
    expect(nextToStep(view, NOW + 1)).toBe(backingOff);
  });
});

describe("runs that wait", () => {
  const secondTry: RunRecord = { ...waiting, notBefore: NOW + 60_000 };
  const queuedAt = (ms: number) =>
    aRunRecord({ id: `at ${ms}`, queued_at: new Date(NOW + ms).toISOString() });

  it("start in the order of queueing, and a retry as if it was queued at its start time", () => {
    const [before, after] = [queuedAt(59_999), queuedAt(60_001)];
    expect(inStartingOrder([secondTry, queuedAt(0), before, after])).toEqual([
      queuedAt(0),
      before,
      secondTry,
      after,
    ]);
  });

  it("do not wait for a retry before its start time", () => {
    const view = aQueue({ waiting: [secondTry, full] });
    expect(nextToStep(view, NOW)).toBe(full);
    expect(nextToStep(aQueue({ waiting: [secondTry] }), NOW + 59_999)).toBeUndefined();
    expect(nextToStep(view, NOW + 60_000)).toBe(secondTry);
  });
});

describe("nextAlarm", () => {
  it("returns the earliest of all due times, and never a past one", () => {
    const backingOff = { ...running, notBefore: NOW + 4_000 };
    const view = aQueue({ running: [backingOff] });
    expect(nextAlarm(view, { now: NOW, others: [NOW + 9_000, NOW + 2_000] })).toBe(NOW + 2_000);
    expect(nextAlarm(view, { now: NOW, others: [NOW - 5_000] })).toBe(NOW);
  });
});

describe("backoffMs", () => {
  it("doubles from a second up to a minute", () => {
    expect([1, 2, 3, 4, 6, 7, 8, 2000].map(backoffMs)).toEqual([
      1_000, 2_000, 4_000, 8_000, 32_000, 60_000, 60_000, 60_000,
    ]);
  });
});
