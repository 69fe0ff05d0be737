import { Hono, type MiddlewareHandler } from "hono";
import { requestId } from "hono/request-id";
import { secureHeaders } from "hono/secure-headers";
import notice from "../../data/NOTICE.md";
import type { AdminToken } from "../config.ts";
import { describeError, logLine } from "../log.ts";
import type { CatalogReader } from "../storage/catalog-reader.ts";
import { authenticate } from "./authentication.ts";
import type { Http } from "./http.ts";
import { ingestRoutes, type IngestUseCases } from "./ingest-routes.ts";
import { sendProblem } from "./problem.ts";
import { quickChecks } from "./quick-checks.ts";

export interface AdminDependencies {
  readonly tokens: readonly AdminToken[];
  readonly ingest: IngestUseCases;
  readonly reader: CatalogReader;
  readonly now: () => number;
}

/** Everything that the Worker answers over plain HTTP. */
export function createAdminApp({ tokens, ingest, reader, now }: AdminDependencies): Hono<Http> {
  const app = new Hono<Http>();
  app.use(requestId({ headerName: "" }), secureHeaders());
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
    return sendProblem(c, { status: 500, code: "internal", detail: "Internal error." });
  });

  app.route("/", quickChecks(reader, now));
  app.get("/credits", (c) =>
    c.body(notice, 200, { "content-type": "text/markdown; charset=utf-8" }),
  );

  const admin = new Hono<Http>();
  admin.use(authenticate(tokens, now), refuseGrpc, async (c, next) => {
    await next();
    c.header("cache-control", "no-store");
  });
  admin.route("/ingest", ingestRoutes(ingest));
  app.route("/admin", admin);
  return app;
}

/** Cloudflare Access lets gRPC past, so nothing here may be reached by it. */
const refuseGrpc: MiddlewareHandler<Http> = async (c, next) => {
  if (!/^application\/grpc/i.test(c.req.header("content-type") ?? "")) return next();
  const detail = "Admin routes are plain HTTP: send application/json.";
  return sendProblem(c, { status: 415, code: "grpc_refused", detail });
};
