import { describe, expect, it } from "vitest";
import { GuardsTripped, RunFault, toFailure } from "../../../src/ingest/faults.ts";
import type { GuardTrip } from "../../../src/ingest/guards.ts";
import { PassingError, SourceError } from "../../../src/sources/source-error.ts";
import { StoreTimeout } from "../../../src/storage/deadline.ts";

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
    "lets the source fault %s pass when upstream may recover",
    (fault) => {
      expect(toFailure(new PassingError(fault, "no answer", 7_000), "fetch")).toEqual({
        error: { code: `source_${fault}`, stage: "fetch", message: "no answer" },
        retry: { step: false, afterMs: 7_000 },
        patch: {},
      });
    },
  );

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

  it.each([new Error("KV PUT failed: 429"), new StoreTimeout("no answer"), "a text", undefined])(
    "repeats a step after anything else: %s",
    (error) => {
      expect(toFailure(error, "encode")).toEqual({
        error: { code: "store_fault", stage: "encode", message: String(error) },
        retry: { step: true, afterMs: 0 },
        patch: {},
      });
    },
  );
});
