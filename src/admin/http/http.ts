import type { RequestIdVariables } from "hono/request-id";

/** What a credential allows: to look, or to change something. */
export const SCOPES = ["read", "operate"] as const;
export type Scope = (typeof SCOPES)[number];

/** Who sends a request. */
export interface Actor {
  readonly id: string;
  readonly scopes: readonly Scope[];
}

/** What Hono carries with a request; `actor` is set on admin routes only. */
export interface Http {
  Variables: RequestIdVariables & { actor?: Actor };
}
