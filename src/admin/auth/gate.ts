import type { MiddlewareHandler } from "hono";
import { every } from "hono/combine";
import { authenticate, type AuthenticationDependencies } from "./authentication.ts";
import type { Http } from "../http/http.ts";
import { sendProblem } from "../http/problem.ts";

/** Ignores case, so that no spelling of a path gets around the gate. */
function isAdminPath(path: string): boolean {
  return /^\/admin(\/|$)/i.test(path);
}

/** Guards every path below /admin, whether or not a route has it. */
export function adminGate(deps: AuthenticationDependencies): MiddlewareHandler<Http> {
  const gate = every(forbidCaching, authenticate(deps), refuseGrpc);
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
