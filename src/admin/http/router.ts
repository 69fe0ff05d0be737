import type { Context, Hono } from "hono";
import type { ContentfulStatusCode, StatusCode } from "hono/utils/http-status";
import { v7 } from "uuid";
import { z } from "zod";
import { describeError, logLine } from "../../log.ts";
import type { AuditEntry, AuditOutcome } from "../../storage/audit-store.ts";
import type { RecordChange } from "../audit/audit-trail.ts";
import { readBody } from "./body.ts";
import { isCrossSite } from "./cross-site.ts";
import type { Actor, Http } from "./http.ts";
import { refusalOf } from "../calls/outages.ts";
import { describeIssues, refuse } from "./parsed.ts";
import type { Problem } from "./problem.ts";
import { sendProblem } from "./problem.ts";
import { readQuery } from "./query.ts";
import type { AnyAnswer, AnyInput, Route, RouteSpec } from "./route.ts";

export interface RouterDependencies {
  readonly record: RecordChange;
  readonly now: () => number;
}

/** Adds routes, and for each of their paths the answer to every other method. */
export function addRoutes(
  app: Hono<Http>,
  routes: readonly Route[],
  deps: RouterDependencies,
): void {
  // Path by path, so that one with a parameter does not take what another path refuses.
  for (const path of new Set(routes.map(({ spec }) => spec.path))) {
    const own = routes.filter(({ spec }) => spec.path === path);
    for (const route of own)
      app.on(route.spec.method.toUpperCase(), path, (c) => answerRoute(c, route, deps));
    const methods = own.map(({ spec }) => spec.method);
    const allow = methods.map((method) => (method === "get" ? "GET, HEAD" : method.toUpperCase()));
    app.all(path, (c) => refuseMethod(c, allow.join(", ")));
  }
}

function refuseMethod(c: Context<Http>, allow: string): Response {
  const detail = `This path takes ${allow} only.`;
  return sendProblem(c, { status: 405, code: "method_not_allowed", detail }, { allow });
}

/** What is known of a request when it is answered. */
interface Settled {
  readonly answer: AnyAnswer;
  /** What the schemas read; absent if they did not. */
  readonly input?: AnyInput;
  /** Set if a bug or an outage cut the handler off. */
  readonly cause?: unknown;
}

/** Answers a request, and records it if it is one to change something: no route can forget to. */
async function answerRoute(
  c: Context<Http>,
  { spec, handle }: Route,
  deps: RouterDependencies,
): Promise<Response> {
  const began = deps.now();
  const settled = await settle(c, spec, handle);
  const { answer, cause } = settled;
  const actor = c.get("actor");
  if (actor !== undefined && spec.access === "operate")
    await deps.record(auditEntry(c, { spec, actor, settled, now: deps.now() }));
  if (cause !== undefined) logFault(c, cause);
  if (actor !== undefined)
    logLine("info", "admin_request", `${spec.method} ${spec.path}`, {
      request_id: c.get("requestId"),
      actor: actor.id,
      status: statusOf(answer),
      error_code: "problem" in answer ? answer.problem.code : undefined,
      duration_ms: deps.now() - began,
    });
  return send(c, spec, answer);
}

/** Finds the answer: never throws. */
async function settle(
  c: Context<Http>,
  spec: RouteSpec,
  handle: Route["handle"],
): Promise<Settled> {
  const actor = c.get("actor");
  if (spec.access !== "public" && actor?.scopes.includes(spec.access) !== true)
    return { answer: { problem: scopeMissing(spec.access) } };
  if (spec.access === "operate" && isCrossSite(c.req.raw))
    return { answer: { problem: CROSS_SITE } };
  let input: AnyInput | undefined;
  try {
    const read = await readInput(c, spec);
    if (!read.ok) return { answer: { problem: read.problem } };
    input = read.value;
    return { answer: await handle(input), input };
  } catch (cause) {
    return { answer: refusalOf(cause), ...(input && { input }), cause };
  }
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

type ReadInput =
  | { readonly ok: true; readonly value: AnyInput }
  | { readonly ok: false; readonly problem: Problem };

const NO_PARAMETERS = z.strictObject({});

async function readInput(c: Context<Http>, spec: RouteSpec): Promise<ReadInput> {
  const params = (spec.params ?? NO_PARAMETERS).safeParse(c.req.param());
  if (!params.success) {
    const issues = describeIssues(params.error, "parameter");
    if (spec.invalidParams === 400) return refuse(400, "invalid_path", issues);
    return refuse(404, "not_found", `There is nothing at this path: ${issues}.`);
  }
  const query = readQuery(new URL(c.req.url).searchParams, spec.query ?? NO_PARAMETERS);
  if (!query.ok) return query;
  const takesBody = spec.method === "post";
  const body = takesBody ? await readBody(c.req.raw, spec.body ?? NO_PARAMETERS) : NO_BODY;
  if (!body.ok) return body;
  const value: AnyInput = {
    params: params.data,
    query: query.value,
    body: body.value,
    actor: c.get("actor"),
    requestId: c.get("requestId"),
    headers: c.req.raw.headers,
    signal: c.req.raw.signal,
  };
  return { ok: true, value };
}

const NO_BODY = { ok: true, value: undefined } as const;

function logFault(c: Context<Http>, cause: unknown): void {
  const fields = { request_id: c.get("requestId"), ...describeError(cause) };
  logLine("error", "admin_error", "a request failed", fields);
}

type ChangingSpec = Extract<RouteSpec, { readonly access: "operate" }>;

function auditEntry(
  c: Context<Http>,
  about: {
    readonly spec: ChangingSpec;
    readonly actor: Actor;
    readonly settled: Settled;
    readonly now: number;
  },
): AuditEntry {
  const { spec, actor, settled, now } = about;
  const { answer, input, cause } = settled;
  const problem = "problem" in answer ? answer.problem : undefined;
  const outcome: AuditOutcome = cause === undefined ? "refused" : "failed";
  return {
    id: v7(),
    at: new Date(now).toISOString(),
    actor: actor.id,
    action: spec.action,
    target: answer.change?.target ?? input?.params["id"] ?? null,
    outcome: problem === undefined ? "done" : outcome,
    status: statusOf(answer),
    code: problem?.code ?? null,
    detail: problem?.detail ?? null,
    request: input?.body ?? null,
    before: answer.change?.before ?? null,
    after: answer.change?.after ?? null,
    requestId: c.get("requestId"),
  };
}

function statusOf(answer: AnyAnswer): number {
  return "problem" in answer ? answer.problem.status : answer.status;
}

function send(c: Context<Http>, spec: RouteSpec, answer: AnyAnswer): Response {
  if ("problem" in answer) return sendProblem(c, answer.problem, answer.headers);
  const { status, body, headers } = answer;
  if (body === undefined) return c.body(null, status as StatusCode, headers); // one that `spec` names
  const mediaType = spec.responses[status]?.mediaType ?? "application/json";
  const isText = typeof body === "string" && mediaType.startsWith("text/");
  return c.body(isText ? body : JSON.stringify(body), status as ContentfulStatusCode, {
    "content-type": isText ? `${mediaType}; charset=utf-8` : mediaType,
    ...headers,
  });
}
