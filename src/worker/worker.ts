import { waitUntil } from "cloudflare:workers";
import { describeError, logLine } from "../platform/log.ts";
import type { createOperations } from "./operations.ts";
import { createRpcHandler, type RpcHandler } from "../rpc/handler.ts";
import { answerMetrics, type OptionalBindings } from "../rpc/metrics.ts";
import { isRpcRequest, readHead } from "../rpc/request.ts";
import { isPreflight, preflightResponse } from "../rpc/response.ts";
import { readServingConfig } from "../platform/serving-config.ts";
import type { Suggest, Suggester } from "../search/suggester.ts";
import { CachedCatalogReader } from "../storage/cached-catalog-reader.ts";
import { createCatalogStore } from "../storage/catalog-store.ts";
import { readAsset } from "../storage/static-assets.ts";

export { AlertMonitor, IngestCoordinator, PartCompressor } from "./objects.ts";

/** The handlers, which an isolate builds once. */
interface App {
  readonly rpc: RpcHandler;
  readonly suggestions: (request: Request) => Promise<Response>;
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
  let suggester: Suggester | undefined;
  const suggest: Suggest = async (wanted) => {
    const { Suggester } = await import("../search/suggester.ts");
    suggester ??= new Suggester((path) => readAsset(env.ASSETS, path));
    return suggester.suggest(wanted);
  };
  return {
    rpc: createRpcHandler({
      reader,
      defaultLocale,
      log: (message, cause) => logLine("error", "rpc_error", message, describeError(cause)),
      measure: metrics && answerMetrics(metrics),
    }),
    async suggestions(request) {
      const { answerUsual } = await import("../search/answer.ts");
      return (await answerUsual(request, suggest, defaultLocale)) ?? this.operations(request);
    },
    async operations(request) {
      const { createOperations } = await import("./operations.ts");
      operations ??= createOperations(env, { reader, suggest, defaultLocale });
      return operations.fetch(request);
    },
  };
}

// An unhandled rejection is a bug. The platform's notice is no JSON log line.
addEventListener("unhandledrejection", ({ reason }) =>
  logLine("error", "unhandled_rejection", "a rejection was not handled", describeError(reason)),
);

/** Whether scripts of any origin read a file or a route below a path, which wrangler.toml names, too. */
function isOpen(path: string): boolean {
  return /^\/(?:openapi\.json$|search\/)/.test(path);
}

async function sendFile(request: Request, env: Env, { operations }: App): Promise<Response> {
  const answer = await env.ASSETS.fetch(request.clone());
  return answer.status === 404 ? operations(request) : answer;
}

export default {
  fetch(request, env) {
    app ??= createApp(env);
    const head = readHead(request);
    if (isRpcRequest(head)) return app.rpc(request, head);
    const { pathname } = new URL(head.url);
    if (!isOpen(pathname)) return app.operations(request);
    if (isPreflight(head)) return preflightResponse(head, "GET, HEAD");
    return pathname === "/search/v1/suggest"
      ? app.suggestions(request)
      : sendFile(request, env, app);
  },

  async scheduled(controller, env) {
    const { runCron } = await import("./operations.ts");
    await runCron(controller, env);
  },
} satisfies ExportedHandler<Env>;
