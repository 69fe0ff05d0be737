import type { Change } from "./deliveries.ts";
import type { RuleFinding, RuleName } from "../health/rules.ts";

type Finding =
  "fingerprint" | "labels" | "severity" | "message" | "value" | "threshold" | "unit" | "evidence";

/** Notification about one alert. Times are RFC 3339. */
export interface Notice extends Pick<RuleFinding, Finding> {
  readonly change: Change;
  /** Name of the rule; `test` in a test message. */
  readonly rule: RuleName | "test";
  /** Raising time of the alert. */
  readonly startsAt: string;
  /** Time of the last notification of the target about this alert; null if never. */
  readonly deliveredAt: string | null;
  /** Resolution time; null while open. */
  readonly endsAt: string | null;
}

/** The notices of one evaluation for one target. */
export interface Message {
  /** Stays the same when the same changes are sent again. */
  readonly id: string;
  readonly target: string;
  readonly notices: readonly Notice[];
}

/** Formats a notice in one line, such as `FIRING catalog_stale: …`. */
export function headline({ change, rule, labels, message }: Notice): string {
  const named = Object.entries(labels).map(([name, value]) => `${name}=${value}`);
  const subject = named.length === 0 ? rule : `${rule} (${named.join(", ")})`;
  return `${WORDS[change]} ${subject}: ${message}`;
}

const WORDS: { readonly [C in Change]: string } = {
  fired: "FIRING",
  nodata: "NO DATA",
  repeated: "STILL FIRING",
  resolved: "RESOLVED",
};
