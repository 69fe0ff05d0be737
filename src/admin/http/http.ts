import type { RequestIdVariables } from "hono/request-id";
import type { Context } from "hono";
import * as z from "zod";
import type { Scope } from "../../platform/credentials.ts";
import type { EpochMs } from "../../platform/units.ts";

export const problemSchema = z
  .strictObject({
    type: z.literal("about:blank"),
    title: z.string().meta({ example: "Conflict" }),
    status: z.int().meta({ example: 409 }),
    code: z.string().meta({ description: "Stable word for programs.", example: "pinned" }),
    detail: z.string().meta({
      description: "The problem and the remedy.",
      example: "This backup is pinned. Unpin it first.",
    }),
    request_id: z.uuid().meta({ description: "The id of this request in the log." }),
  })
  .meta({
    id: "Problem",
    description: "A problem as RFC 9457 describes it.",
  });

/** The phrase of each status of a problem. `node:http` has all of them, but slows down each start. */
const TITLES = {
  400: "Bad Request",
  401: "Unauthorized",
  403: "Forbidden",
  404: "Not Found",
  405: "Method Not Allowed",
  408: "Request Timeout",
  409: "Conflict",
  413: "Payload Too Large",
  415: "Unsupported Media Type",
  422: "Unprocessable Content",
  429: "Too Many Requests",
  500: "Internal Server Error",
  503: "Service Unavailable",
} as const;

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
    title: TITLES[problem.status],
    ...problem,
    request_id: c.get("requestId"),
  } satisfies z.output<typeof problemSchema>;
  return c.body(JSON.stringify(body), problem.status, {
    "content-type": PROBLEM_MEDIA_TYPE,
    "cache-control": "no-store",
    ...headers,
  });
}

export interface Actor {
  readonly id: string;
  readonly scopes: readonly Scope[];
  /** End of the credential; null if it has none. */
  readonly expiresAt: EpochMs | null;
}

export interface RequestInput {
  readonly params: { readonly [name: string]: unknown };
  readonly query: unknown;
  readonly body: unknown;
}

export interface AuditedChange {
  /** The id or generation that was acted on. */
  readonly target?: string;
  readonly before?: unknown;
  readonly after?: unknown;
}

/** A problem as RFC 9457 describes it. */
export interface Problem {
  readonly status: keyof typeof TITLES;
  /** Stable word for programs, such as `unknown_field`. */
  readonly code: string;
  /** States the problem and the remedy. */
  readonly detail: string;
}

/** Variables that Hono carries with a request. */
export interface Http {
  Variables: RequestIdVariables & {
    /** On admin routes only. */
    actor?: Actor;
    /** Absent if the request could not be read. */
    input?: RequestInput;
    change?: AuditedChange | undefined;
    problem?: Problem;
  };
}
