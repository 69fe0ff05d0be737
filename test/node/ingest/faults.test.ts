import { expect, it } from "vitest";
import { GuardsTripped, RunFault } from "../../../src/ingest/faults.ts";
import { toFailure } from "../../../src/coordinator/ingest-work.ts";
import type { GuardTrip } from "../../../src/ingest/guards.ts";
import { StepNeverEnded } from "../../../src/coordinator/engine.ts";
import { TransientSourceError, SourceError } from "../../../src/sources/source-error.ts";
import { StoreError, StoreTimeout } from "../../../src/platform/deadline.ts";

const SHRINK: GuardTrip = {
  guard: "guard_shrink",
  list: "airports",
  before: 9074,
  after: 4120,
  limit: 8621,
  message: "airports 9074 → 4120",
};
const CHANGE: GuardTrip = { ...SHRINK, guard: "guard_change", message: "airports 54 %" };
const NEVER_ENDED = "the step started 5 times and never finished";
const REFUSED = { guards: [SHRINK, CHANGE] };

it.each([
  [new SourceError("not_utf8", "it is bad"), "source_not_utf8", "it is bad", {}],
  [new RunFault("unknown_source", "there is none"), "unknown_source", "there is none", {}],
  [
    new GuardsTripped([SHRINK], REFUSED),
    "guard_shrink",
    "guard_shrink: airports 9074 → 4120",
    REFUSED,
  ],
])("toFailure retries nothing after %s", (fault, code, message, patch) => {
  const error = { code, stage: "guard", message };
  expect(toFailure(fault, "guard")).toEqual({ error, retry: null, retryAfterMs: null, patch });
});

it.each([
  [new TransientSourceError("broken_off", "gone"), "source_broken_off", "gone", true, 60_000],
  [new StoreError("KV put x: 429"), "store_fault", "KV put x: 429", true, 60_000],
  [new StoreTimeout("KV put x: no answer"), "store_fault", "KV put x: no answer", true, 60_000],
  [new TypeError("x is no function"), "internal", "TypeError: x is no function", true, null],
  ["a text", "internal", "a text", true, null],
  [null, "internal", "null", true, null],
  [new StepNeverEnded(), "lease_expired", NEVER_ENDED, false, 60_000],
])(
  "toFailure has the step or the run repeated after %s",
  (fault, code, message, step, runAfterMs) => {
    const error = { code, stage: "encode", message };
    const retry = { step, runAfterMs };
    const failure = { error, retry, retryAfterMs: null, patch: {} };
    expect(toFailure(fault, "encode")).toEqual(failure);
  },
);

it.each([
  [7_000, 60_000],
  [60_001, 60_001],
  [3_600_000, 3_600_000],
])("toFailure retries only the run if asked to wait for %i ms, after %i ms", (asked, ms) => {
  const failure = toFailure(new TransientSourceError("http_status", "busy", asked), "fetch");
  const { error, retry, retryAfterMs } = failure;
  expect(retryAfterMs).toBe(asked);
  expect(retry).toEqual({ step: false, runAfterMs: ms });
  expect(error.message).toBe("busy");
});

it("toFailure retries nothing, and says so, if upstream asks for a wait of over an hour", () => {
  const { error, retry } = toFailure(
    new TransientSourceError("http_status", "busy", 3_600_001),
    "fetch",
  );
  expect(retry).toBeNull();
  expect(error.message).toBe("busy; the wait exceeds an hour, so the run is not retried");
});
