/** What an evaluation makes of the findings. Pure: no clock, no I/O. */
import { timeText } from "../storage/time-text.ts";
import type { AlertResult, AlertRun, Worst } from "./alert-run.ts";
import { needsAttention, newTrack, nextTrack } from "./alert-state.ts";
import type { AlertRecord } from "./monitor-state.ts";
import type { RuleFinding } from "./rules.ts";

/** An alert at one evaluation. */
export interface Evaluated {
  readonly record: AlertRecord;
  readonly result: AlertResult;
}

/** An alert after one more finding. */
export function step(known: AlertRecord | undefined, finding: RuleFinding, now: number): Evaluated {
  const { verdict, forMs, ...found } = finding;
  const before = known?.track ?? newTrack(now);
  const track = nextTrack(before, verdict, { now, forMs });
  const result: AlertResult = {
    ...found,
    state: track.state,
    previousState: before.state,
    since: timeText(track.since),
    notified: [],
  };
  return { record: { track, last: result }, result };
}

/** What is said of an alert whose cause is no longer configured: it is over. */
export function noLongerWatched({ last }: AlertRecord): RuleFinding {
  const { rule, fingerprint, labels, severity, threshold, unit } = last;
  return {
    rule,
    fingerprint,
    labels,
    severity,
    threshold,
    unit,
    forMs: 0,
    verdict: "good",
    value: null,
    message: "It is no longer watched.",
    evidence: {},
    suppressed: false,
  };
}

/** What an evaluation's row says of all its alerts together. */
export function summarize(
  results: readonly AlertResult[],
): Pick<
  AlertRun,
  | "worst"
  | "rulesTotal"
  | "pending"
  | "firing"
  | "nodata"
  | "fired"
  | "resolved"
  | "suppressed"
  | "changed"
  | "results"
> {
  const count = (is: (result: AlertResult) => boolean) => results.filter(is).length;
  const inState = (state: AlertResult["state"]) => count((result) => result.state === state);
  const isNew = ({ state, previousState }: AlertResult) => state !== previousState;
  return {
    worst: worstOf(results),
    rulesTotal: results.length,
    pending: inState("pending"),
    firing: inState("firing"),
    nodata: inState("nodata"),
    resolved: inState("resolved"),
    fired: count((result) => result.state === "firing" && isNew(result)),
    suppressed: count(({ suppressed, state }) => suppressed && needsAttention(state)),
    changed: results.some(
      (result) =>
        isNew(result) && !(result.previousState === "resolved" && result.state === "inactive"),
    ),
    results,
  };
}

/** How bad a set of results is: input that cannot be read is never a pass. */
export function worstOf(results: readonly AlertResult[]): Worst {
  const bad = results.filter(({ state }) => needsAttention(state));
  if (bad.some(({ severity, suppressed }) => severity === "fail" && !suppressed)) return "fail";
  return bad.length > 0 ? "warn" : "pass";
}
