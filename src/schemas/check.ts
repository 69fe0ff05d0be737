/**
 * The only schemas of health (draft-inadarei-api-health-check-06) and of the answers to operators'
 * questions.
 */
import * as z from "zod";
import { type DeepReadonly, timestamp } from "./fields.ts";
import { HEALTH_STATUSES, type HealthStatus } from "./rule-names.ts";

export const HEALTH_MEDIA_TYPE = "application/health+json";

export const healthStatus = z.enum(HEALTH_STATUSES).meta({
  description:
    "`fail`: act now, because clients get errors or the service no longer does its work. `warn`: it works, but somebody should look.",
});

const checkSchema = z
  .strictObject({
    status: healthStatus,
    observedValue: z.union([z.number(), z.string(), z.boolean(), z.null()]).exactOptional(),
    observedUnit: z.string().exactOptional(),
    time: timestamp.exactOptional(),
    output: z.string().exactOptional().meta({ description: "The problem, and what to do." }),
    fingerprint: z
      .string()
      .exactOptional()
      .meta({ description: "The permanent name of the alert whose finding this is." }),
    runId: z.string().exactOptional().meta({ description: "The run that it is about." }),
  })
  .meta({
    id: "HealthCheck",
    description: "One observation, as in draft-inadarei-api-health-check-06.",
  });

export const checksSchema = z.record(z.string(), z.array(checkSchema));

const answerSchema = z
  .strictObject({
    question: z.enum(["served", "fresh", "failed", "changed", "next"]).meta({
      description:
        "Is it served? Is it fresh? What failed, and what do I do? Who changed what? What happens next?",
    }),
    status: healthStatus,
    at: timestamp.meta({
      description:
        "When it was evaluated. An answer from the alerts is as old as their last evaluation.",
    }),
    answer: z.string(),
    details: z.array(
      z.strictObject({
        text: z.string(),
        at: timestamp.nullable(),
        status: healthStatus.exactOptional().meta({ description: "Of a problem." }),
        links: z.array(z.strictObject({ text: z.string(), href: z.string() })),
      }),
    ),
  })
  .meta({ id: "Answer", description: "The answer to one question of an operator." });

export const answersSchema = z.array(answerSchema).meta({
  description: "The five questions of an operator, answered from the checks.",
});

export type Answer = DeepReadonly<z.output<typeof answerSchema>>;

/** One observation. `output` states the problem and the remedy. */
export type Check = DeepReadonly<z.output<typeof checkSchema>>;

/** Observations by component and measurement, such as `kv:responseTime`. */
export type Checks = { readonly [name: `${string}:${string}`]: readonly Check[] };

export function worstOf(checks: Checks): HealthStatus {
  return mostSevere(Object.values(checks).flatMap((list) => list.map(({ status }) => status)));
}

/** Returns the most severe status; `pass` for an empty list. */
export function mostSevere(statuses: readonly HealthStatus[]): HealthStatus {
  if (statuses.includes("fail")) return "fail";
  return statuses.includes("warn") ? "warn" : "pass";
}

export interface CheckProblem {
  readonly name: string;
  readonly status: HealthStatus;
  readonly output: string;
  readonly runId?: string;
}

/** Lists the problems, the most severe first; among equals, failed runs first. */
export function problemsOf(checks: Checks): readonly CheckProblem[] {
  return Object.entries(checks)
    .flatMap(([name, list]) =>
      list.map(({ output = "not as it should be", ...check }) => ({ ...check, name, output })),
    )
    .filter(({ status }) => status !== "pass")
    .toSorted(
      (a, b) =>
        HEALTH_STATUSES.indexOf(b.status) - HEALTH_STATUSES.indexOf(a.status) ||
        Number(b.runId !== undefined) - Number(a.runId !== undefined),
    );
}

/** Joins all problems in one line. Returns undefined if there is none. */
export function outputOf(checks: Checks): string | undefined {
  const outputs = problemsOf(checks).map(({ name, output }) => `${name}: ${output}`);
  return outputs.length === 0 ? undefined : outputs.join("; ");
}
