import type { Context, Hono } from "hono";
import type { ContentfulStatusCode, StatusCode } from "hono/utils/http-status";
import { describeError, logLine } from "../../log.ts";
import { auditEntry, type RecordChange, type Settled } from "./audit-entry.ts";
import type { Http } from "./http.ts";
import { type Input, readInput } from "./input.ts";
import { refusalOf } from "./outages.ts";
import { sendProblem } from "./problem.ts";
import { type AnyAnswer, type Refusal, type Route, type RouteSpec, statusOf } from "./route.ts";

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
    for (const route of own)
      app.on(route.spec.method.toUpperCase(), path, (c) => answerRoute(c, route, deps));
    const methods = own.map(({ spec }) => spec.method.toUpperCase());
    const allow = methods.join(", ").replace("GET", "GET, HEAD");
    const detail = `This path takes only ${allow}.`;
    const isPublic = own.every(({ spec }) => spec.access === "public");
    app.all(path, (c) =>
      isPublic && c.req.header("access-control-request-method") !== undefined
        ? c.body(null, 204, preflightHeaders(c, allow))
        : sendProblem(c, { status: 405, code: "method_not_allowed", detail }, { allow }),
    );
  }
}

/** Answers a request, logs it, and records it in the audit if its route changes something. */
async function answerRoute(
  c: Context<Http>,
  { spec, handle }: Route,
  { record, now }: RouterDependencies,
): Promise<Response> {
  const began = now();
  const { actor, requestId } = c.var;
  const settled = await settle(c, spec, handle);
  const { answer, cause } = settled;
  if (actor !== undefined && spec.access === "operate")
    await record(auditEntry({ action: spec.action, actor, requestId, at: now() }, settled));
  if (cause !== undefined) {
    const fields = { request_id: requestId, ...describeError(cause) };
    logLine("error", "admin_error", "a request failed", fields);
  }
  if (actor !== undefined)
    logLine("info", "admin_request", `${spec.method} ${spec.path}`, {
      request_id: requestId,
      actor: actor.id,
      status: statusOf(answer),
      error_code: "problem" in answer ? answer.problem.code : undefined,
      duration_ms: now() - began,
    });
  const response = send(c, spec, answer);
  if (spec.access === "public")
    for (const [name, value] of Object.entries(ANY_ORIGIN)) response.headers.set(name, value);
  return response;
}

/** Lets scripts of any origin read what is public, without credentials. */
const ANY_ORIGIN = {
  "access-control-allow-origin": "*",
  "access-control-expose-headers": "ETag, Retry-After",
};

function preflightHeaders(c: Context<Http>, allow: string): Record<string, string> {
  return {
    ...ANY_ORIGIN,
    "access-control-allow-methods": allow,
    "access-control-allow-headers": c.req.header("access-control-request-headers") ?? "*",
    "access-control-max-age": "7200",
    vary: "Access-Control-Request-Headers",
  };
}

/** Finds the answer. Never rejects. */
async function settle(
  c: Context<Http>,
  spec: RouteSpec,
  handle: Route["handle"],
): Promise<Settled> {
  const { actor, requestId } = c.var;
  const { raw } = c.req;
  if (spec.access !== "public" && actor?.scopes.includes(spec.access) !== true)
    return { answer: scopeMissing(spec.access) };
  if (spec.access === "operate" && isCrossSite(raw)) return { answer: CROSS_SITE };
  let input: Input | undefined;
  try {
    const read = await readInput(raw, c.req.param(), spec);
    if ("code" in read) return { answer: { problem: read } };
    input = read;
    return { answer: await handle({ ...input, actor, requestId, headers: raw.headers }), input };
  } catch (cause) {
    return { answer: refusalOf(cause), ...(input && { input }), cause };
  }
}

function scopeMissing(scope: string): Refusal {
  const detail = `This credential lacks the scope "${scope}".`;
  return { problem: { status: 403, code: "scope_missing", detail } };
}

const CROSS_SITE: Refusal = {
  problem: {
    status: 403,
    code: "cross_site",
    detail: "Pages of other sites may not change anything here.",
  },
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

function send(c: Context<Http>, spec: RouteSpec, answer: AnyAnswer): Response {
  if ("problem" in answer) return sendProblem(c, answer.problem, answer.headers);
  const { status, body, headers } = answer;
  if (body === undefined) return c.body(null, status as StatusCode, headers); // `spec` names it
  const mediaType = spec.responses[status]?.mediaType ?? "application/json";
  const isText = typeof body === "string" && mediaType.startsWith("text/");
  const isSent = isText || body instanceof ArrayBuffer;
  return c.body(isSent ? body : JSON.stringify(body), status as ContentfulStatusCode, {
    "content-type": isText ? `${mediaType}; charset=utf-8` : mediaType,
    ...headers,
  });
}
