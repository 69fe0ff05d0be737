/**
 * The process that is killed: Miniflare and workerd with stores on disk. Started by `service.ts`
 * with its options as JSON; says when it serves; ends when its parent does.
 */
import { appendFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { convertV4MiniflareOptions, Miniflare } from "miniflare";
import { bundleModules } from "../../bench/bundle.ts";
import { createTables } from "../../bench/migrations.ts";
import type { HostConfig } from "./host-config.ts";
import type { FaultPlan } from "./fault-plan.ts";
import { COLLECTABLE } from "./isolate-heap.ts";

export interface HostOptions {
  readonly folder: string;
  readonly bundle: string;
  readonly port: number;
  readonly vars: { readonly [name: string]: string };
  /** From wrangler.toml, which takes long to be read. */
  readonly config: HostConfig;
  readonly plan: FaultPlan;
  /** Whether D1 is still to get its tables. */
  readonly migrate: boolean;
  /** Where `IsolateHeap` may look into the isolates. */
  readonly inspectorPort?: number;
  /** Another version of the Worker, over the same stores and objects. */
  readonly beside?: { readonly bundle: string; readonly port: number };
}

const NAME = "chaos";
/** Bindings of the installation that appears over the same bucket. */
const [OTHER_COORDINATOR, OTHER_HISTORY] = ["OTHER_COORDINATOR", "OTHER_HISTORY"];
const options = JSON.parse(process.argv[2] ?? "") as HostOptions; // by service.ts
process.once("disconnect", () => process.exit());
const { config, inspectorPort } = options;
if (inspectorPort !== undefined) Object.assign(process.env, COLLECTABLE);
const objects = {
  ...config.durableObjects,
  [OTHER_COORDINATOR]: { className: "OtherCoordinator", useSQLite: true },
} as const;
const workerOf = ({ bundle, port }: { readonly bundle: string; readonly port: number }) => ({
  rootPath: bundle,
  modulesRoot: bundle,
  modules: bundleModules(bundle),
  compatibilityDate: config.compatibilityDate,
  compatibilityFlags: config.compatibilityFlags,
  bindings: {
    ...options.vars,
    CHAOS_PLAN: JSON.parse(JSON.stringify(options.plan)),
  },
  versionMetadata: "VERSION",
  serviceBindings: { ASSETS: { disk: { path: resolve("dist/web") } } },
  kvNamespaces: ["CATALOG"],
  r2Buckets: ["ARCHIVE", "BACKUPS"],
  d1Databases: ["HISTORY", OTHER_HISTORY],
  ratelimits: config.rateLimits,
  unsafeDirectSockets: [{ host: "127.0.0.1", port }],
});
/** Each Durable Object runs one version, which is the first Worker's. */
const remoteObjects = Object.fromEntries(
  Object.entries(objects).map(([name, object]) => [name, { ...object, scriptName: NAME }]),
);
const miniflare = new Miniflare({
  ...convertV4MiniflareOptions({
    workers: [
      { name: NAME, ...workerOf(options), durableObjects: objects },
      ...(options.beside === undefined
        ? []
        : [{ name: "beside", ...workerOf(options.beside), durableObjects: remoteObjects }]),
    ],
    handleStructuredLogs({ level, message }) {
      appendFileSync(join(options.folder, "worker.log"), `${level} ${message}\n`);
    },
  }),
  resourcePersistencePath: join(options.folder, "state"),
  ...(inspectorPort !== undefined && { inspectorPort }),
});
await miniflare.ready;
if (options.migrate)
  for (const name of ["HISTORY", OTHER_HISTORY])
    await createTables(await miniflare.getD1Database(name, NAME));
process.send?.("ready");
