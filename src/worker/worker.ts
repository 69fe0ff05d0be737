import { waitUntil } from "cloudflare:workers";
import { describeError, logLine } from "../platform/log.ts";
import type { createOperations } from "./operations.ts";
import { createRpcHandler, type RpcHandler } from "../rpc/handler.ts";
import { answerMetrics, type OptionalBindings } from "../rpc/metrics.ts";
import { isRpcRequest, readHead, type RequestHead } from "../rpc/request.ts";
import { isPreflight, preflightResponse } from "../rpc/response.ts";
import { readServingConfig } from "../platform/serving-config.ts";
import { CachedCatalogReader } from "../storage/cached-catalog-reader.ts";
import { createCatalogStore } from "../storage/catalog-store.ts";

export { AlertMonitor, IngestCoordinator, PartCompressor } from "./objects.ts";

/** The two handlers, which an isolate builds once. */
interface App {
  readonly rpc: RpcHandler;
  /** Answers everything else. Its code is loaded when it is first called. */
  readonly operations: (request: Request) => Promise<Response>;
}

let app: App | undefined;

function createApp(env: Env): App {
  const { config, problems } = readServingConfig(env);
  const { defaultLocale, cacheMaxBytes, manifestFreshMs } = config;
  if (problems.length > 0)
    logLine("error", "settings_wrong", "wrong settings have their defaults", { problems });
  const reader = new CachedCatalogReader({
    store: createCatalogStore(env.CATALOG, env.ARCHIVE),
    now: Date.now,
    waitUntil,
    report: (event, detail) => logLine("warn", event, detail),
    createPipe: (bytes) => new FixedLengthStream(bytes),
    manifestFreshMs,
    cacheMaxBytes,
  });
  const { METRICS: metrics }: Env & OptionalBindings = env;
  let operations: ReturnType<typeof createOperations> | undefined;
  return {
    rpc: createRpcHandler({
      reader,
      defaultLocale,
      log: (message, cause) => logLine("error", "rpc_error", message, describeError(cause)),
      measure: metrics && answerMetrics(metrics),
    }),
    async operations(request) {
      const { createOperations } = await import("./operations.ts");
      operations ??= createOperations(env, reader, defaultLocale);
      return operations.fetch(request);
    },
  };
}

// An unhandled rejection is a bug. The platform's notice is no JSON log line.
addEventListener("unhandledrejection", ({ reason }) =>
  logLine("error", "unhandled_rejection", "a rejection was not handled", describeError(reason)),
);

/** The files that scripts of any origin read; wrangler.toml names them, too. */
function isOpenFile({ url }: RequestHead): boolean {
  return /^\/(?:openapi\.json$|search\/)/.test(new URL(url).pathname);
}

/** Sends a static asset, and answers its preflights, which static assets refuse. */
async function sendOpenFile(request: Request, env: Env, { operations }: App): Promise<Response> {
  if (isPreflight(request)) return preflightResponse(request, "GET, HEAD");
  const answer = await env.ASSETS.fetch(request.clone());
  return answer.status === 404 ? operations(request) : answer;
}

export default {
  fetch(request, env) {
    app ??= createApp(env);
    const head = readHead(request);
    if (isRpcRequest(head)) return app.rpc(request, head);
    return isOpenFile(head) ? sendOpenFile(request, env, app) : app.operations(request);
  },

  async scheduled(controller, env) {
    const { runCron } = await import("./operations.ts");
    await runCron(controller, env);
  },
} satisfies ExportedHandler<Env>;
