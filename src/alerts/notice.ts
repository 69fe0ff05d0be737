import type { Change } from "./deliveries.ts";
import type { RuleFinding, RuleName } from "../health/rules.ts";

type Finding =
  "fingerprint" | "labels" | "severity" | "message" | "value" | "threshold" | "unit" | "evidence";

/** What a target is notified of about one alert. Times are RFC 3339. */
export interface Notice extends Pick<RuleFinding, Finding> {
  readonly change: Change;
  /** Its name; `test` in a test message. */
  readonly rule: RuleName | "test";
  /** When the alert was raised. */
  readonly startsAt: string;
  /** When the target was last notified of this alert; null if never. */
  readonly deliveredAt: string | null;
  /** When it was resolved; null while it is not. */
  readonly endsAt: string | null;
}

/** All that one evaluation notifies one target of. */
export interface Message {
  /** The same if the same changes are delivered again. */
  readonly id: string;
  readonly target: string;
  readonly notices: readonly Notice[];
}

/** One line for people, such as `FIRING catalog_stale: …`. */
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
