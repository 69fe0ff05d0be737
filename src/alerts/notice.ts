import type { Change } from "./ledger.ts";
import type { RuleName } from "./rule.ts";
import type { RuleFinding } from "./rules.ts";

type Told =
  "fingerprint" | "labels" | "severity" | "message" | "value" | "threshold" | "unit" | "evidence";

/** What a target is told of one alert. Times are RFC 3339. */
export interface Notice extends Pick<RuleFinding, Told> {
  readonly change: Change;
  /** Its name; `test` in a test message. */
  readonly rule: RuleName | "test";
  /** When the alert was raised. */
  readonly startsAt: string;
  /** When the target was last told that it fires, or has no data, as it does; null if never. */
  readonly lastToldAt: string | null;
  /** When it was resolved; null while it is not. */
  readonly endsAt: string | null;
  /** For a resolved alert: until when its coming back is not told. */
  readonly quietUntil: string | null;
}

/** All that one evaluation tells one target. */
export interface Message {
  /** The same if the same changes are told again. */
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

/** The message, and what a target should know of the time to come. */
export function describeNotice({ message, quietUntil }: Notice): string {
  return quietUntil === null
    ? message
    : `${message} Should it come back before ${quietUntil}, that is told then.`;
}

const WORDS: { readonly [C in Change]: string } = {
  fired: "FIRING",
  nodata: "NO DATA",
  repeated: "STILL FIRING",
  resolved: "RESOLVED",
};
