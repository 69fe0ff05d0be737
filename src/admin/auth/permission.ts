import type { MiddlewareHandler } from "hono";
import type { Scope } from "../../credentials.ts";
import type { Http, Problem } from "../http/http.ts";
import { sendProblem } from "../http/problem.ts";

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
  const own = new URL(url).origin;
  const site = headers.get("sec-fetch-site") ?? "same-origin";
  return (headers.get("origin") ?? own) !== own || (site !== "same-origin" && site !== "none");
}
