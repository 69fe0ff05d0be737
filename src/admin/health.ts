/** Health as draft-inadarei-api-health-check-06 writes it. */
import { z } from "zod";
import { timestamp } from "./run-schema.ts";

export const HEALTH_STATUSES = ["pass", "warn", "fail"] as const;
export type HealthStatus = (typeof HEALTH_STATUSES)[number];

export const HEALTH_MEDIA_TYPE = "application/health+json";

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

const check = z
  .strictObject({
    status: z.enum(HEALTH_STATUSES),
    observedValue: z.union([z.number(), z.string(), z.boolean(), z.null()]).optional(),
    observedUnit: z.string().optional(),
    time: timestamp.optional(),
    output: z.string().optional(),
  })
  .meta({ id: "HealthCheck" });

export const checksSchema = z.record(z.string(), z.array(check));

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
