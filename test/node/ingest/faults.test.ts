import { StepNeverEnded } from "../../../src/jobs/engine.ts";
import { describe, expect, it } from "vitest";
import { GuardsTripped, leaseExpired, RunFault, toFailure } from "../../../src/ingest/faults.ts";
import type { GuardTrip } from "../../../src/ingest/guards.ts";
import { PassingError, SourceError } from "../../../src/sources/source-error.ts";
import { StoreTimeout } from "../../../src/storage/deadline.ts";
import { StoreError } from "../../../src/storage/store-error.ts";

describe("toFailure", () => {
  it.each(["not_utf8", "missing_columns", "malformed_csv", "truncated"] as const)(
    "makes the source fault %s final: the same bytes cannot turn good",
    (fault) => {
      expect(toFailure(new SourceError(fault, "airports.csv is bad"), "build")).toEqual({
        error: { code: `source_${fault}`, stage: "build", message: "airports.csv is bad" },
        retry: null,
        patch: {},
      });
    },
  );

  it.each(["unreachable", "http_status", "deadline", "changing", "truncated"] as const)(
    "lets the source fault %s pass when upstream may recover, after a minute",
    (fault) => {
      expect(toFailure(new PassingError(fault, "no answer"), "fetch")).toEqual({
        error: { code: `source_${fault}`, stage: "fetch", message: "no answer" },
        retry: { step: false, runAfterMs: 60_000 },
        patch: {},
      });
    },
  );

  it.each([
    [7_000, 60_000],
    [60_001, 60_001],
    [3_600_000, 3_600_000],
  ])("leaves upstream alone for the %i ms that it asks for, and for a minute: %i", (asked, ms) => {
    const { error, retry } = toFailure(new PassingError("http_status", "busy", asked), "fetch");
    expect(retry).toEqual({ step: false, runAfterMs: ms });
    expect(error.message).toBe("busy");
  });

  it("makes it final, and says so, when upstream asks to be left alone for over an hour", () => {
    const { error, retry } = toFailure(new PassingError("http_status", "busy", 3_600_001), "fetch");
    expect(retry).toBeNull();
    expect(error).toEqual({
      code: "source_http_status",
      stage: "fetch",
      message: "busy; the wait exceeds an hour, so the run is not retried",
    });
  });

  it("makes a tripped guard final, and keeps its evidence", () => {
    const shrink: GuardTrip = {
      guard: "guard_shrink",
      list: "airports",
      before: 9074,
      after: 4120,
      limit: 8621,
      message: "airports 9074 → 4120",
    };
    const change: GuardTrip = { ...shrink, guard: "guard_change", message: "airports 54 %" };
    expect(toFailure(new GuardsTripped([shrink], { guards: [shrink, change] }), "guard")).toEqual({
      error: {
        code: "guard_shrink",
        stage: "guard",
        message: "guard_shrink: airports 9074 → 4120",
      },
      retry: null,
      patch: { guards: [shrink, change] },
    });
  });

  it("makes any other fault of the run final", () => {
    expect(toFailure(new RunFault("unknown_source", "there is none"), "fetch")).toEqual({
      error: { code: "unknown_source", stage: "fetch", message: "there is none" },
      retry: null,
      patch: {},
    });
  });

  it.each([new StoreError("KV put x: Error: 429"), new StoreTimeout("KV put x: no answer")])(
    "repeats a step after a store's fault, and then the run after a minute: %s",
    (error) => {
      expect(toFailure(error, "encode")).toEqual({
        error: { code: "store_fault", stage: "encode", message: error.message },
        retry: { step: true, runAfterMs: 60_000 },
        patch: {},
      });
    },
  );

  it.each([new TypeError("x is not a function"), new Error("KV PUT failed: 429"), "a text", null])(
    "calls anything else internal, and repeats the step only: %s",
    (error) => {
      expect(toFailure(error, "encode")).toEqual({
        error: { code: "internal", stage: "encode", message: String(error) },
        retry: { step: true, runAfterMs: null },
        patch: {},
      });
    },
  );
});

describe("a step that never ends", () => {
  it("is told with how often it was begun, and the run is tried again after a minute", () => {
    expect(leaseExpired("parse", new StepNeverEnded())).toEqual({
      error: {
        code: "lease_expired",
        stage: "parse",
        message: "the step began 5 times and never finished",
      },
      retry: { step: false, runAfterMs: 60_000 },
      patch: {},
    });
  });
});
