import { Hono, type MiddlewareHandler } from "hono";
import { requestId } from "hono/request-id";
import { secureHeaders } from "hono/secure-headers";
import { describeError, logLine } from "../platform/log.ts";
import { refusalOf } from "./calls.ts";
import { alertRoutes } from "./alerts/alert-routes.ts";
import { alertRunRoutes } from "./alerts/evaluation-routes.ts";
import { auditRoutes } from "./audit/audit-routes.ts";
import { adminGate } from "./auth/gate.ts";
import { backupRoutes } from "./backup/backup-routes.ts";
import { backupJobRoutes } from "./backup/job-routes.ts";
import { catalogHealthRoutes } from "./monitor/catalog-health-routes.ts";
import { comparisonRoutes } from "./catalog/comparison-routes.ts";
import { creditsRoutes } from "./catalog/credits-routes.ts";
import { dashboardRoutes } from "./monitor/dashboard-routes.ts";
import { diffRoutes } from "./catalog/diff-routes.ts";
import { namesRoutes } from "./catalog/names-routes.ts";
import { type Http, sendProblem } from "./http/http.ts";
import { heldRoutes } from "./ingest/held-routes.ts";
import { pauseRoutes } from "./ingest/pause-routes.ts";
import { queueRoutes } from "./ingest/queue-routes.ts";
import { monitorRoutes } from "./monitor/monitor-routes.ts";
import { setAsideRoutes } from "./monitor/set-aside-routes.ts";
import type { Route } from "./http/route.ts";
import { addRoutes } from "./http/router.ts";
import { runRoutes } from "./ingest/run-routes.ts";
import { suggestRoutes } from "./catalog/suggest-routes.ts";
import { whoamiRoutes } from "./auth/whoami-routes.ts";
import { versionRoutes } from "./catalog/version-routes.ts";
import type { AdminPlatform } from "./admin-platform.ts";

/**
 * The routes over plain HTTP. It is not built on `@hono/zod-openapi`: in a trial with the three routes
 * of the pause, that took 40 lines more, made the Worker's code half as large again, and described
 * `exactOptional` fields as required.
 *
 * To add a group of routes: write a function that takes the platform and returns a list of
 * `route(spec).answer(handler)`, and add it to `GROUPS`. The router takes from the spec the validation,
 * the scope, the audit (a handler adds `change` to its answer), 405 with Allow, and the route's part of
 * the OpenAPI document.
 */
export function createAdminApp(platform: AdminPlatform): Hono<Http> {
  const app = new Hono<Http>();
  app.use(requestId({ headerName: "" }), finishChanges(platform), loadNothing, adminGate(platform));
  app.notFound((c) => {
    const detail = `There is nothing at ${c.req.path}.`;
    // Otherwise a page with a wrong address only learns that its fetch has failed.
    const isPublic = !c.req.path.startsWith("/admin/");
    const headers = isPublic ? { "access-control-allow-origin": "*" } : {};
    return sendProblem(c, { status: 404, code: "not_found", detail }, headers);
  });
  app.onError((error, c) => {
    const fields = { request_id: c.get("requestId"), ...describeError(error) };
    logLine("error", "admin_error", "a request failed", fields);
    const { problem, headers } = refusalOf(error);
    return sendProblem(c, problem, headers);
  });

  addRoutes(app, allRoutes(platform), {
    record: platform.recordChange,
    now: platform.now,
    claimKey: platform.coordinator.claimKey,
  });
  return app;
}

/** Lets a change finish and reach the audit, even if its client disconnects. */
function finishChanges({ waitUntil }: AdminPlatform): MiddlewareHandler<Http> {
  return async (c, next) => {
    const answered = next();
    if (c.req.method !== "GET" && c.req.method !== "HEAD") waitUntil(answered);
    await answered;
  };
}

/**
 * Programs read the answers, so a browser that shows one must load, run and frame nothing. HTTPS is
 * required of this host only: other hosts of the domain may belong to somebody else.
 */
const loadNothing = secureHeaders({
  contentSecurityPolicy: { defaultSrc: ["'none'"], frameAncestors: ["'none'"] },
  strictTransportSecurity: "max-age=31536000",
});

const GROUPS = [
  pauseRoutes,
  queueRoutes,
  runRoutes,
  heldRoutes,
  versionRoutes,
  diffRoutes,
  namesRoutes,
  comparisonRoutes,
  backupJobRoutes,
  backupRoutes,
  alertRoutes,
  alertRunRoutes,
  auditRoutes,
  monitorRoutes,
  setAsideRoutes,
  dashboardRoutes,
  catalogHealthRoutes,
  creditsRoutes,
  suggestRoutes,
  whoamiRoutes,
];

export function allRoutes(platform: AdminPlatform): readonly Route[] {
  return GROUPS.flatMap((routes) => routes(platform));
}
