/** Health in the format of draft-inadarei-api-health-check-06. Pure. */

export const HEALTH_STATUSES = ["pass", "warn", "fail"] as const;
export type HealthStatus = (typeof HEALTH_STATUSES)[number];

/** One observation. `output` states the problem and the remedy. */
export interface Check {
  readonly status: HealthStatus;
  readonly observedValue?: number | string | boolean | null;
  readonly observedUnit?: string;
  readonly time?: string;
  readonly output?: string;
  /** The alert whose finding it shows. */
  readonly fingerprint?: string;
}

/** The check of the age of the last evaluation of the alerts. */
export const EVALUATION = "monitor:evaluation";

/** Observations by component and measurement, such as `kv:responseTime`. */
export type Checks = { readonly [name: `${string}:${string}`]: readonly Check[] };

/** Returns the worst status of all observations. */
export function worstOf(checks: Checks): HealthStatus {
  return gravest(Object.values(checks).flatMap((list) => list.map(({ status }) => status)));
}

/** Returns the worst status; `pass` for an empty list. */
export function gravest(statuses: readonly HealthStatus[]): HealthStatus {
  if (statuses.includes("fail")) return "fail";
  return statuses.includes("warn") ? "warn" : "pass";
}

/** An observation that is not as it should be, with the name of its check. */
export interface CheckProblem {
  readonly name: string;
  readonly status: HealthStatus;
  readonly output: string;
  /** The alert whose finding it is. */
  readonly fingerprint?: string;
}

/** Lists the problems, the gravest first. */
export function problemsOf(checks: Checks): readonly CheckProblem[] {
  return Object.entries(checks)
    .flatMap(([name, list]) =>
      list.map(({ status, output = "not as it should be", fingerprint }) => ({
        name,
        status,
        output,
        ...(fingerprint !== undefined && { fingerprint }),
      })),
    )
    .filter(({ status }) => status !== "pass")
    .toSorted((a, b) => HEALTH_STATUSES.indexOf(b.status) - HEALTH_STATUSES.indexOf(a.status));
}

/** Joins all problems in one line. Returns undefined if there is none. */
export function outputOf(checks: Checks): string | undefined {
  const outputs = problemsOf(checks).map(({ name, output }) => `${name}: ${output}`);
  return outputs.length === 0 ? undefined : outputs.join("; ");
}
