import type { Context } from "hono";
import type { ContentfulStatusCode } from "hono/utils/http-status";
import { z } from "zod";
import type { Http } from "./http.ts";

/** A problem as RFC 9457 describes it. */
export interface Problem {
  readonly status: ContentfulStatusCode;
  /** Stable word for programs, such as `unknown_field`. */
  readonly code: string;
  /** What was wrong and what to do. */
  readonly detail: string;
}

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
  const body = {
    type: "about:blank",
    title: TITLES[problem.status] ?? "Error",
    ...problem,
    request_id: c.get("requestId"),
  } satisfies z.output<typeof problemSchema>;
  return c.body(JSON.stringify(body), problem.status, {
    "content-type": PROBLEM_MEDIA_TYPE,
    "cache-control": "no-store",
    ...headers,
  });
}

const TITLES: { readonly [status: number]: string } = {
  400: "Bad Request",
  401: "Unauthorized",
  403: "Forbidden",
  404: "Not Found",
  405: "Method Not Allowed",
  409: "Conflict",
  411: "Length Required",
  413: "Content Too Large",
  415: "Unsupported Media Type",
  429: "Too Many Requests",
  500: "Internal Server Error",
  503: "Service Unavailable",
};
