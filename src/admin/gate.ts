import type { MiddlewareHandler } from "hono";
import { every } from "hono/combine";
import { secureHeaders } from "hono/secure-headers";
import { authenticate, type AuthenticationDependencies } from "./authentication.ts";
import type { Http } from "./http.ts";
import { sendProblem } from "./problem.ts";

/** Whether a path is one of the admin routes', in whatever case it is written. */
export function isAdminPath(path: string): boolean {
  return /^\/admin(\/|$)/i.test(path);
}

/** What every request below /admin passes first, whether there is such a route or not. */
export function adminGate(deps: AuthenticationDependencies): MiddlewareHandler<Http> {
  const gate = every(
    nothingIsKept,
    nothingIsLoaded,
    authenticate(deps),
    refuseGrpc,
    refuseCrossSite,
  );
  return async (c, next) => (isAdminPath(c.req.path) ? gate(c, next) : next());
}

const nothingIsKept: MiddlewareHandler<Http> = async (c, next) => {
  await next();
  c.header("cache-control", "no-store");
};

/** Answers are read by programs: a browser that shows one loads, runs and frames nothing. */
const nothingIsLoaded = secureHeaders({
  contentSecurityPolicy: { defaultSrc: ["'none'"], frameAncestors: ["'none'"] },
});

/** Cloudflare Access lets gRPC past, so nothing here may be reached by it. */
const refuseGrpc: MiddlewareHandler<Http> = async (c, next) => {
  if (!/^\s*application\/grpc/i.test(c.req.header("content-type") ?? "")) return next();
  const detail = "Admin routes are plain HTTP: send application/json.";
  return sendProblem(c, { status: 415, code: "grpc_refused", detail });
};

/**
 * Keeps pages of other sites from changing anything in the name of an operator who is signed in to
 * Cloudflare Access: browsers say where such a request comes from, and other clients say nothing.
 */
const refuseCrossSite: MiddlewareHandler<Http> = async (c, next) => {
  const isSafe = c.req.method === "GET" || c.req.method === "HEAD";
  const { origin } = new URL(c.req.url);
  const comesFrom = c.req.header("origin") ?? origin;
  const site = c.req.header("sec-fetch-site") ?? "same-origin";
  if (isSafe || (comesFrom === origin && (site === "same-origin" || site === "none")))
    return next();
  const detail = "Pages of other sites may not change anything here.";
  return sendProblem(c, { status: 403, code: "cross_site", detail });
};
