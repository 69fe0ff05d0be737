import type { ContentfulStatusCode } from "hono/utils/http-status";
import type { RequestIdVariables } from "hono/request-id";
import type { Scope } from "../../credentials.ts";

/** Who sends a request. */
export interface Actor {
  readonly id: string;
  readonly scopes: readonly Scope[];
  /** End of the credential in milliseconds since 1970; null if it has none. */
  readonly expiresAt: number | null;
}

/** A request as its route's schemas read it. */
export interface Input {
  readonly params: { readonly [name: string]: unknown };
  readonly query: unknown;
  readonly body: unknown;
}

/** What the audit records of a change. */
export interface Change {
  /** The id or generation that was acted on. */
  readonly target?: string;
  /** The state before and after, as JSON. */
  readonly before?: unknown;
  readonly after?: unknown;
}

/** A problem as RFC 9457 describes it. */
export interface Problem {
  readonly status: ContentfulStatusCode;
  /** Stable word for programs, such as `unknown_field`. */
  readonly code: string;
  /** What was wrong and what to do. */
  readonly detail: string;
}

/** What Hono carries with a request. */
export interface Http {
  Variables: RequestIdVariables & {
    /** On admin routes only. */
    actor?: Actor;
    /** Absent if the request could not be read. */
    input?: Input;
    change?: Change | undefined;
    /** The problem that is the answer. */
    problem?: Problem;
  };
}
