/**
 * Global setup of the projects that test a running service: one for all of them that only look at
 * it, and one for each of the others. A real ingest publishes while other projects' tests run
 * already; `await-catalog.ts` waits for it.
 */
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestProject } from "vitest/node";
import { unstable_getMiniflareWorkerOptions } from "wrangler";
import { bundleWorker } from "../../bench/bundle.ts";
import { WebhookReceiver } from "../builders/webhook-receiver.ts";
import { TestService, type WorkerBuild } from "./test-service.ts";

/** What the tests know of the running service. */
export interface RunningService {
  readonly url: string;
  readonly port: number;
  readonly adminToken: string;
  /** Everything that the Worker writes. */
  readonly logFile: string;
  /** Holds the stores, as Miniflare keeps them. */
  readonly stateFolder: string;
  readonly locales: readonly string[];
}

declare module "vitest" {
  interface ProvidedContext {
    service: RunningService;
  }
}

/** Projects whose tests pause the service and change what is published. */
const CHANGING = ["operations", "backups"];
const LOCALES = ["en", "de", "ja", "ar"];
/** Fewer, for a service that publishes more than once. */
const CHANGING_LOCALES = ["en", "de"];

export default async function setup(
  project: TestProject,
): Promise<(() => Promise<void>) | undefined> {
  const everyProject = project.vitest.getRootProject();
  const build = everyProject.getProvidedContext().build ?? buildWorker(everyProject);
  if (CHANGING.includes(project.name)) return startService(project, build, CHANGING_LOCALES);
  if (everyProject.getProvidedContext().service !== undefined) return undefined;
  return startService(everyProject, build, LOCALES);
}

/** Builds the Worker for all projects, until this process ends. */
function buildWorker(everyProject: TestProject): WorkerBuild {
  const folder = mkdtempSync(join(tmpdir(), "locations-build-"));
  process.once("exit", () => rmSync(folder, { recursive: true }));
  bundleWorker("src/worker/worker.ts", folder);
  const { workerOptions } = unstable_getMiniflareWorkerOptions("wrangler.toml");
  const build = { folder, options: workerOptions };
  everyProject.provide("build", build);
  return build;
}

/** Starts a service for the tests of a project. Returns what stops it. */
async function startService(
  project: TestProject,
  build: WorkerBuild,
  locales: readonly string[],
): Promise<() => Promise<void>> {
  const webhook = await WebhookReceiver.start();
  const service = await TestService.start({
    build,
    locales: locales.join(","),
    vars: {
      ALERT_WEBHOOKS: JSON.stringify([{ name: "ops", kind: "slack", url: webhook.url }]),
      // Tests of a healthy service are not to fail on the day on which the snapshot is old.
      ALERT_DATA_OLD_MS: "315360000000",
      // Files that are dropped are published as they are.
      SURPRISE_HOLD_MS: "0",
      SURPRISE_UNLISTED_PERCENT: "100",
    },
  });
  const { url, token, logFile, stateFolder } = service;
  // The tests wait for what it publishes, and see where it fails.
  await service.admin("POST", "/admin/ingest/queue");
  const { port } = new URL(url);
  project.provide("service", {
    url,
    port: Number(port),
    adminToken: token,
    logFile,
    stateFolder,
    locales,
  });
  return async () => {
    await service.stop();
    await webhook.goAway();
  };
}

/** A port of the loopback interface that nobody listens on. */
export async function freePort(): Promise<number> {
  // Below 32768, so that no outgoing connection takes it before the service does.
  const port = 10_000 + Math.floor(Math.random() * 20_000);
  const server = createServer().listen(port, "127.0.0.1");
  try {
    await once(server, "listening");
  } catch {
    return freePort();
  }
  server.close();
  await once(server, "close");
  return port;
}
