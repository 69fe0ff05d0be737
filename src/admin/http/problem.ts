import { STATUS_CODES } from "node:http";
import type { Context } from "hono";
import { z } from "zod";
import type { Http, Problem } from "./http.ts";

/** What `sendProblem` sends. */
export const problemSchema = z
  .strictObject({
    type: z.literal("about:blank"),
    title: z.string(),
    status: z.int(),
    code: z.string().meta({ description: "Stable word for programs." }),
    detail: z.string().meta({ description: "What was wrong and what to do." }),
    request_id: z.uuid().meta({ description: "The id of this request in the log." }),
  })
  .meta({ id: "Problem", description: "A problem as RFC 9457 describes it." });

export const PROBLEM_MEDIA_TYPE = "application/problem+json";

/** Answers `application/problem+json` with the request's id. */
export function sendProblem(
  c: Context<Http>,
  problem: Problem,
  headers: { readonly [name: string]: string } = {},
): Response {
  c.set("problem", problem);
  const body = {
    type: "about:blank",
    title: STATUS_CODES[problem.status] ?? "Error",
    ...problem,
    request_id: c.get("requestId"),
  } satisfies z.output<typeof problemSchema>;
  return c.body(JSON.stringify(body), problem.status, {
    "content-type": PROBLEM_MEDIA_TYPE,
    "cache-control": "no-store",
    ...headers,
  });
}
