import type { Context, Hono } from "hono";
import { cors } from "hono/cors";
import type { ContentfulStatusCode, StatusCode } from "hono/utils/http-status";
import { permit } from "../auth/permission.ts";
import type { Http } from "./http.ts";
import { readInput } from "./input.ts";
import { sendProblem } from "./problem.ts";
import { report, type ReportDependencies } from "./report.ts";
import type { Route } from "./route.ts";

/** Adds routes, and answers every other method of their paths with 405. */
export function addRoutes(
  app: Hono<Http>,
  routes: readonly Route[],
  deps: ReportDependencies,
): void {
  // Path by path: else `/jobs/:id` would take a method that `/jobs/list` refuses.
  for (const [path, own] of Map.groupBy(routes, ({ spec }) => spec.path)) {
    if (own.every(({ spec }) => spec.access === "public")) app.use(path, readableAnywhere);
    for (const route of own) {
      const { method, access } = route.spec;
      app.on(method.toUpperCase(), path, report(route.spec, deps), permit(access), async (c) =>
        answer(c, route),
      );
    }
    const methods = own.map(({ spec }) => spec.method.toUpperCase());
    const allow = methods.join(", ").replace("GET", "GET, HEAD");
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

async function answer(c: Context<Http>, { spec, handle }: Route): Promise<Response> {
  const input = await readInput(c, spec);
  if ("problem" in input) return sendProblem(c, input.problem, input.headers);
  c.set("input", input);
  const { actor, requestId } = c.var;
  const answered = await handle({ ...input, actor, requestId, headers: c.req.raw.headers });
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
