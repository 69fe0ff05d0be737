import type { Context, Hono, MiddlewareHandler } from "hono";
import { cors } from "hono/cors";
import type { ContentfulStatusCode, StatusCode } from "hono/utils/http-status";
import { logLine } from "../../log.ts";
import { auditEntry, type RecordChange } from "./audit-entry.ts";
import type { Http, Problem } from "./http.ts";
import { readInput } from "./input.ts";
import { sendProblem } from "./problem.ts";
import type { Route, RouteSpec } from "./route.ts";

interface RouterDependencies {
  readonly record: RecordChange;
  readonly now: () => number;
}

/** Adds routes, and answers every other method of their paths with 405. */
export function addRoutes(
  app: Hono<Http>,
  routes: readonly Route[],
  deps: RouterDependencies,
): void {
  // Path by path: else `/jobs/:id` would take a method that `/jobs/list` refuses.
  for (const [path, own] of Map.groupBy(routes, ({ spec }) => spec.path)) {
    const methods = own.map(({ spec }) => spec.method.toUpperCase());
    const allow = methods.join(", ").replace("GET", "GET, HEAD");
    if (own.every(({ spec }) => spec.access === "public")) app.use(path, readableAnywhere);
    for (const { spec, handle } of own)
      app.on(spec.method.toUpperCase(), path, report(spec, deps), async (c) =>
        answer(c, spec, handle),
      );
    const detail = `This path takes only ${allow}.`;
    app.all(path, (c) =>
      sendProblem(c, { status: 405, code: "method_not_allowed", detail }, { allow }),
    );
  }
}

/** Lets scripts of any origin read what is public, without credentials. */
const readableAnywhere = cors({
  allowMethods: ["GET", "HEAD"],
  exposeHeaders: ["ETag", "Retry-After"],
  maxAge: 7200,
});

/** Logs an operator's request, and records it in the audit if its route changes something. */
function report(spec: RouteSpec, { record, now }: RouterDependencies): MiddlewareHandler<Http> {
  return async (c, next) => {
    const began = now();
    await next();
    const { actor, problem, requestId } = c.var;
    if (actor === undefined) return;
    if (spec.access === "operate")
      await record(auditEntry(c, { action: spec.action, actor, at: now() }));
    logLine("info", "admin_request", `${spec.method} ${spec.path}`, {
      request_id: requestId,
      actor: actor.id,
      status: c.res.status,
      error_code: problem?.code,
      duration_ms: now() - began,
    });
  };
}

/** Answers a request with its route's handler, if the request may be made and can be read. */
async function answer(
  c: Context<Http>,
  spec: RouteSpec,
  handle: Route["handle"],
): Promise<Response> {
  const { actor, requestId } = c.var;
  const { raw } = c.req;
  if (spec.access !== "public" && actor?.scopes.includes(spec.access) !== true)
    return sendProblem(c, scopeMissing(spec.access));
  if (spec.access === "operate" && isCrossSite(raw)) return sendProblem(c, CROSS_SITE);
  const input = await readInput(c, spec);
  if ("code" in input) return sendProblem(c, input);
  c.set("input", input);
  const answered = await handle({ ...input, actor, requestId, headers: raw.headers });
  c.set("change", answered.change);
  if ("problem" in answered) return sendProblem(c, answered.problem, answered.headers);
  const { status, body, headers } = answered;
  if (body === undefined) return c.body(null, status as StatusCode, headers); // `spec` names it
  const isSent = typeof body === "string" || body instanceof ArrayBuffer;
  return c.body(isSent ? body : JSON.stringify(body), status as ContentfulStatusCode, {
    "content-type": spec.responses[status]?.mediaType ?? "application/json",
    ...headers,
  });
}

function scopeMissing(scope: string): Problem {
  const detail = `This credential lacks the scope "${scope}".`;
  return { status: 403, code: "scope_missing", detail };
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
