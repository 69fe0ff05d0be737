import type { MiddlewareHandler } from "hono";
import { every } from "hono/combine";
import { authenticate, type AuthenticationDependencies } from "./authentication.ts";
import type { Http } from "../http/http.ts";
import { sendProblem } from "../http/problem.ts";

/** Whether a path is one of the admin routes', in whatever case it is written. */
function isAdminPath(path: string): boolean {
  return /^\/admin(\/|$)/i.test(path);
}

/** What every request below /admin passes first, whether there is such a route or not. */
export function adminGate(deps: AuthenticationDependencies): MiddlewareHandler<Http> {
  const gate = every(nothingIsKept, authenticate(deps), refuseGrpc);
  return async (c, next) => (isAdminPath(c.req.path) ? gate(c, next) : next());
}

const nothingIsKept: MiddlewareHandler<Http> = async (c, next) => {
  await next();
  c.header("cache-control", "no-store");
};

/** Cloudflare Access lets gRPC past, so nothing here may be reached by it. */
const refuseGrpc: MiddlewareHandler<Http> = async (c, next) => {
  if (!/^\s*application\/grpc/i.test(c.req.header("content-type") ?? "")) return next();
  const detail = "Admin routes are plain HTTP: send application/json.";
  return sendProblem(c, { status: 415, code: "grpc_refused", detail });
};
