import { describe, expect, it } from "vitest";
import { backoffMs, decideEnqueue, newRun } from "../../../src/ingest/queue.ts";
import { anEnqueueRequest, aRunRecord } from "../../builders/run.ts";

const wanted = aRunRecord({ id: "wanted" });
const running = aRunRecord({ id: "running", state: "running" });

describe("decideEnqueue", () => {
  it("begins a run now when nothing runs or waits", () => {
    expect(decideEnqueue(wanted, [], undefined)).toEqual({
      answer: { disposition: "queued", willStart: "now", run: wanted.run },
      add: wanted,
    });
  });

  it("queues behind the run under way, also one of the same kind, which may miss what is new", () => {
    expect(decideEnqueue(wanted, [], running)).toEqual({
      answer: {
        disposition: "queued_behind_running",
        willStart: "after_run:running",
        run: wanted.run,
      },
      add: wanted,
    });
  });

  it("answers with the run of the same kind that waits already, and adds none", () => {
    const waiting = aRunRecord({ id: "waiting" });
    expect(decideEnqueue(wanted, [waiting], undefined)).toEqual({
      answer: { disposition: "coalesced", willStart: "now", run: waiting.run },
      add: null,
    });
    expect(decideEnqueue(wanted, [waiting], running)).toEqual({
      answer: { disposition: "coalesced", willStart: "after_run:running", run: waiting.run },
      add: null,
    });
  });

  it("finds the run of the same kind behind one of another kind", () => {
    const full = aRunRecord({ id: "full", mode: "full" });
    const waiting = aRunRecord({ id: "waiting" });
    expect(decideEnqueue(wanted, [full, waiting], running)).toEqual({
      answer: { disposition: "coalesced", willStart: "after_run:full", run: waiting.run },
      add: null,
    });
  });

  it.each([{ mode: "full" }, { source: "other" }] as const)(
    "does not take a waiting run with %j for the same, and starts after it",
    (changes) => {
      const waiting = aRunRecord({ id: "waiting", ...changes });
      expect(decideEnqueue(wanted, [waiting], running)).toEqual({
        answer: {
          disposition: "queued_behind_running",
          willStart: "after_run:waiting",
          run: wanted.run,
        },
        add: wanted,
      });
    },
  );
});

describe("newRun", () => {
  it("waits, and says who asked for it and when", () => {
    const request = anEnqueueRequest({ mode: "full", requestedBy: "ana", note: "new blobs" });
    const { run, checkpoint, attempts } = newRun(
      "id",
      "embedded",
      "2026-11-01T04:17:00.000Z",
      request,
    );
    expect(run).toMatchObject({
      id: "id",
      state: "queued",
      outcome: null,
      trigger: "manual",
      mode: "full",
      source: "embedded",
      requestedBy: "ana",
      note: "new blobs",
      startedAt: null,
      queuedAt: "2026-11-01T04:17:00.000Z",
      finishedAt: null,
      error: null,
    });
    expect(checkpoint.stage).toBe("fetch");
    expect(attempts).toBe(0);
  });
});

describe("backoffMs", () => {
  it("doubles from a second up to a minute", () => {
    expect([1, 2, 3, 4, 6, 7, 8, 2000].map(backoffMs)).toEqual([
      1_000, 2_000, 4_000, 8_000, 32_000, 60_000, 60_000, 60_000,
    ]);
  });
});
