/** The only schema of an answer to an operator: the OpenAPI document and the page follow from it. */
import * as z from "zod";
import { type DeepReadonly, timestamp } from "../../catalog/fields.ts";
import { healthStatus } from "./health-schema.ts";

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
  .meta({ id: "Answer" });

export const answersSchema = z.array(answerSchema).meta({
  description: "The five questions of an operator, answered from the checks.",
});

export type Answer = DeepReadonly<z.output<typeof answerSchema>>;
