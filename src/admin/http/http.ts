import type { RequestIdVariables } from "hono/request-id";
import type { Scope } from "../auth/credentials.ts";

/** Who a request is from. */
export interface Actor {
  readonly id: string;
  readonly scopes: readonly Scope[];
}

/** What Hono carries with a request; `actor` is set behind the gate of the admin routes only. */
export interface Http {
  Variables: RequestIdVariables & { actor?: Actor };
}
