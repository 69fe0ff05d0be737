/** Health as draft-inadarei-api-health-check-06 writes it. Pure. */
import type { Finding } from "./rule.ts";

export const HEALTH_STATUSES = ["pass", "warn", "fail"] as const;
export type HealthStatus = (typeof HEALTH_STATUSES)[number];

/** One observation. `output` says what is wrong, and what to do. */
export interface Check {
  readonly status: HealthStatus;
  readonly observedValue?: number | string | boolean | null;
  readonly observedUnit?: string;
  readonly time?: string;
  readonly output?: string;
}

/** Observations by component and measurement, such as `kv:responseTime`. */
export type Checks = { readonly [name: `${string}:${string}`]: readonly Check[] };

/** The judgement of a check. Its status is `warn` where the finding has no data. */
export function judged(
  { verdict, message }: Finding,
  whenBad: "warn" | "fail" = "warn",
): Pick<Check, "status" | "output"> {
  if (verdict === "good") return { status: "pass" };
  return { status: verdict === "bad" ? whenBad : "warn", output: message };
}

/** The gravest status of all observations. */
export function worstOf(checks: Checks): HealthStatus {
  return gravest(Object.values(checks).flatMap((list) => list.map(({ status }) => status)));
}

/** The gravest of some statuses; `pass` if there are none. */
export function gravest(statuses: readonly HealthStatus[]): HealthStatus {
  if (statuses.includes("fail")) return "fail";
  return statuses.includes("warn") ? "warn" : "pass";
}

/** What is wrong, in one line; undefined if nothing is. */
export function outputOf(checks: Checks): string | undefined {
  const outputs = Object.entries(checks).flatMap(([name, list]) =>
    list
      .filter(({ status }) => status !== "pass")
      .map(({ output }) => `${name}: ${output ?? "not as it should be"}`),
  );
  return outputs.length === 0 ? undefined : outputs.join("; ");
}
