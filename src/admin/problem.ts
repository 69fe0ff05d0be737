import type { Context } from "hono";
import type { ContentfulStatusCode } from "hono/utils/http-status";
import type { Http } from "./http.ts";

/** A problem as RFC 9457 describes it. */
export interface Problem {
  readonly status: ContentfulStatusCode;
  /** Stable word for programs, such as `unknown_field`. */
  readonly code: string;
  /** What was wrong and what to do. */
  readonly detail: string;
}

/** Answers `application/problem+json` with the request's id. */
export function sendProblem(c: Context<Http>, problem: Problem): Response {
  const body = {
    type: "about:blank",
    title: TITLES[problem.status] ?? "Error",
    ...problem,
    request_id: c.get("requestId"),
  };
  return c.body(JSON.stringify(body), problem.status, {
    "content-type": "application/problem+json",
    "cache-control": "no-store",
  });
}

const TITLES: { readonly [status: number]: string } = {
  400: "Bad Request",
  401: "Unauthorized",
  403: "Forbidden",
  404: "Not Found",
  405: "Method Not Allowed",
  409: "Conflict",
  413: "Content Too Large",
  415: "Unsupported Media Type",
  429: "Too Many Requests",
  500: "Internal Server Error",
  503: "Service Unavailable",
};
