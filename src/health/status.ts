/** Health in the format of draft-inadarei-api-health-check-06. Pure. */
import type { Finding } from "./rule.ts";

export const HEALTH_STATUSES = ["pass", "warn", "fail"] as const;
export type HealthStatus = (typeof HEALTH_STATUSES)[number];

/** One observation. `output` states the problem and the remedy. */
export interface Check {
  readonly status: HealthStatus;
  readonly observedValue?: number | string | boolean | null;
  readonly observedUnit?: string;
  readonly time?: string;
  readonly output?: string;
}

/** Observations by component and measurement, such as `kv:responseTime`. */
export type Checks = { readonly [name: `${string}:${string}`]: readonly Check[] };

/** Converts a finding to a check. A finding without data warns. */
export function judged(
  { verdict, message }: Finding,
  whenBad: "warn" | "fail" = "warn",
): Pick<Check, "status" | "output"> {
  if (verdict === "good") return { status: "pass" };
  return { status: verdict === "bad" ? whenBad : "warn", output: message };
}

/** Returns the worst status of all observations. */
export function worstOf(checks: Checks): HealthStatus {
  return gravest(Object.values(checks).flatMap((list) => list.map(({ status }) => status)));
}

/** Returns the worst status; `pass` for an empty list. */
export function gravest(statuses: readonly HealthStatus[]): HealthStatus {
  if (statuses.includes("fail")) return "fail";
  return statuses.includes("warn") ? "warn" : "pass";
}

/** Joins all problems in one line. Returns undefined if there is none. */
export function outputOf(checks: Checks): string | undefined {
  const outputs = Object.entries(checks).flatMap(([name, list]) =>
    list
      .filter(({ status }) => status !== "pass")
      .map(({ output }) => `${name}: ${output ?? "not as it should be"}`),
  );
  return outputs.length === 0 ? undefined : outputs.join("; ");
}
