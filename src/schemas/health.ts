/** The only schemas of checks and of answers to an operator: the OpenAPI document and the pages follow from them. */
import * as z from "zod";
import { type DeepReadonly, timestamp } from "./fields.ts";
import { HEALTH_STATUSES } from "./check.ts";

export const HEALTH_MEDIA_TYPE = "application/health+json";

export const healthStatus = z.enum(HEALTH_STATUSES).meta({
  description:
    "`fail`: act now, because clients get errors or the service no longer does its work. `warn`: it works, but somebody should look.",
});

const check = z
  .strictObject({
    status: healthStatus,
    observedValue: z.union([z.number(), z.string(), z.boolean(), z.null()]).optional(),
    observedUnit: z.string().optional(),
    time: timestamp.optional(),
    output: z.string().optional().meta({ description: "The problem, and what to do." }),
    fingerprint: z
      .string()
      .optional()
      .meta({ description: "The permanent name of the alert whose finding this is." }),
  })
  .meta({
    id: "HealthCheck",
    description: "One observation, as in draft-inadarei-api-health-check-06.",
  });

export const checksSchema = z.record(z.string(), z.array(check));

const answerSchema = z
  .strictObject({
    question: z.enum(["served", "fresh", "failed", "changed", "next"]).meta({
      description:
        "Is it served? Is it fresh? What failed, and what do I do? Who changed what? What happens next?",
    }),
    status: healthStatus,
    at: timestamp.meta({
      description:
        "When it was judged. What rests on the findings of the alerts is as old as their last evaluation.",
    }),
    answer: z.string(),
    details: z.array(
      z.strictObject({
        text: z.string(),
        at: timestamp.nullable(),
        links: z.array(z.strictObject({ text: z.string(), href: z.string() })),
      }),
    ),
  })
  .meta({ id: "Answer", description: "The answer to one question of an operator." });

export const answersSchema = z.array(answerSchema).meta({
  description: "The five questions of an operator, answered from the checks.",
});

export type ShownCheck = DeepReadonly<z.output<typeof check>>;

export type Answer = DeepReadonly<z.output<typeof answerSchema>>;
