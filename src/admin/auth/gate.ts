import type { MiddlewareHandler } from "hono";
import { every } from "hono/combine";
import { type Http, type Problem, sendProblem } from "../http/http.ts";
import type { Scope } from "../../platform/credentials.ts";
import { authenticate, type Authentication } from "./authenticate.ts";

/** Ignores case, so that no spelling of a path gets around the gate. */
function isAdminPath(path: string): boolean {
  return /^\/admin(\/|$)/i.test(path);
}

/** Guards every path below /admin, whether or not a route has it. */
export function adminGate(platform: Authentication): MiddlewareHandler<Http> {
  const gate = every(forbidCaching, authenticate(platform), refuseGrpc);
  return async (c, next) => (isAdminPath(c.req.path) ? gate(c, next) : next());
}

const forbidCaching: MiddlewareHandler<Http> = async (c, next) => {
  await next();
  c.header("cache-control", "no-store");
};

/** Cloudflare Access lets gRPC pass unauthenticated. */
const refuseGrpc: MiddlewareHandler<Http> = async (c, next) => {
  if (!/^\s*application\/grpc/i.test(c.req.header("content-type") ?? "")) return next();
  const detail = "Admin routes are plain HTTP: send application/json.";
  return sendProblem(c, { status: 415, code: "grpc_refused", detail });
};

/** Lets a request pass that its credential permits and that no page of another site sends. */
export function permit(access: "public" | Scope): MiddlewareHandler<Http> {
  return async (c, next) => {
    if (access === "public") return next();
    if (c.var.actor?.scopes.includes(access) !== true) {
      const detail = `This credential lacks the scope "${access}".`;
      return sendProblem(c, { status: 403, code: "scope_missing", detail });
    }
    if (access === "operate" && isCrossSite(c.req.raw)) return sendProblem(c, CROSS_SITE);
    return next();
  };
}

const CROSS_SITE: Problem = {
  status: 403,
  code: "cross_site",
  detail: "Pages of other sites may not change anything here.",
};

/**
 * Whether a page of another site sends a request. It could act as an operator who is signed in to
 * Cloudflare Access. Browsers say where a request comes from; other clients say nothing.
 */
function isCrossSite({ url, headers }: Request): boolean {
  const { origin } = new URL(url);
  const site = headers.get("sec-fetch-site") ?? "same-origin";
  return (
    (headers.get("origin") ?? origin) !== origin || (site !== "same-origin" && site !== "none")
  );
}
