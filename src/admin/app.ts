import { Hono, type MiddlewareHandler } from "hono";
import { requestId } from "hono/request-id";
import { secureHeaders } from "hono/secure-headers";
import { describeError, logLine } from "../log.ts";
import type { AlertHistory } from "../alerts/alert-history.ts";
import type { History } from "../coordinator/history.ts";
import type { BackupStore } from "../storage/backup-store.ts";
import { type CoordinatorCalls, type MonitorCalls, refusalOf } from "./calls.ts";
import type { CatalogReader } from "../storage/catalog-reader.ts";
import type { SourceArchive } from "../storage/source-archive.ts";
import { alertRoutes } from "./alerts/alert-routes.ts";
import { auditRoutes } from "./audit/audit-routes.ts";
import type { RecordChange } from "./audit/audit-trail.ts";
import { adminGate, type AuthenticationDependencies } from "./auth/gate.ts";
import { backupRoutes } from "./backup/backup-routes.ts";
import { catalogHealthRoutes } from "./health/catalog-health-routes.ts";
import { comparisonRoutes } from "./catalog/comparison-routes.ts";
import { creditsRoutes } from "./catalog/credits-routes.ts";
import { type DashboardDependencies, dashboardRoutes } from "./health/dashboard-routes.ts";
import { type DiffDependencies, diffRoutes } from "./catalog/diff-routes.ts";
import { type Http, sendProblem } from "./http/http.ts";
import { heldRoutes } from "./ingest/held-routes.ts";
import { pauseRoutes } from "./ingest/pause-routes.ts";
import { queueRoutes } from "./ingest/queue-routes.ts";
import { type MonitorDependencies, monitorRoutes } from "./health/monitor-routes.ts";
import { addRoutes } from "./http/router.ts";
import { runRoutes } from "./ingest/run-routes.ts";
import { whoamiRoutes } from "./auth/whoami-routes.ts";
import { versionRoutes } from "./catalog/version-routes.ts";

export interface AdminDependencies
  extends MonitorDependencies, DashboardDependencies, AuthenticationDependencies {
  readonly coordinator: CoordinatorCalls;
  readonly alerts: MonitorCalls;
  readonly history: History;
  readonly backups: BackupStore;
  readonly reader: CatalogReader & DiffDependencies["reader"];
  readonly archive: Pick<SourceArchive, "open">;
  readonly alertHistory: Pick<AlertHistory, "listRuns" | "findRun">;
  readonly recordChange: RecordChange;
  /** The credits that the data's licences require, in Markdown. */
  readonly notice: string;
}

/**
 * Everything that the Worker answers over plain HTTP.
 *
 * To add a group of routes: write a function that takes its use cases and returns a list of
 * `route(spec).answer(handler)`, and spread that list into `routeGroups`. The router takes from the
 * spec the validation, the scope, the audit (a handler adds `change` to its answer), 405 with Allow,
 * and the route's part of the OpenAPI document.
 */
export function createAdminApp(deps: AdminDependencies): Hono<Http> {
  const app = new Hono<Http>();
  app.use(
    requestId({ headerName: "" }),
    finishChanges(deps.waitUntil),
    loadNothing,
    adminGate(deps),
  );
  app.notFound((c) =>
    sendProblem(c, {
      status: 404,
      code: "not_found",
      detail: `There is nothing at ${c.req.path}.`,
    }),
  );
  app.onError((error, c) => {
    const fields = { request_id: c.get("requestId"), ...describeError(error) };
    logLine("error", "admin_error", "a request failed", fields);
    const { problem, headers } = refusalOf(error);
    return sendProblem(c, problem, headers);
  });

  addRoutes(app, routeGroups(deps), { record: deps.recordChange, now: deps.now });
  return app;
}

/**
 * Lets a change finish, and reach the audit, even if its client disconnects. `waitUntil` keeps the
 * present request's context alive until a promise settles.
 */
function finishChanges(waitUntil: AdminDependencies["waitUntil"]): MiddlewareHandler<Http> {
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

/** Every route. */
export function routeGroups(deps: AdminDependencies) {
  const { coordinator, history, now } = deps;
  return [
    ...pauseRoutes(coordinator, now),
    ...queueRoutes(coordinator, history),
    ...runRoutes(coordinator, history),
    ...heldRoutes(deps),
    ...versionRoutes(coordinator),
    ...diffRoutes(deps),
    ...comparisonRoutes(deps),
    ...backupRoutes(deps),
    ...alertRoutes(deps.alerts, deps.alertHistory),
    ...auditRoutes(deps.audit),
    ...monitorRoutes(deps),
    ...dashboardRoutes(deps),
    ...catalogHealthRoutes(deps),
    ...creditsRoutes(deps.notice),
    ...whoamiRoutes(),
  ];
}
