/**
 * Global setup of the projects that test a running service: one for all of them that only look at
 * it, and one for each of the others. A real ingest publishes while other projects' tests run
 * already; `await-catalog.ts` waits for it.
 */
import { createHash, randomBytes } from "node:crypto";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestProject } from "vitest/node";
import { LocalWorker } from "../../scripts/local-worker.ts";
import { findBrowser } from "../browser/find-browser.ts";
import { WebhookReceiver } from "../builders/webhook-receiver.ts";

/** What the tests know of the running service. */
export interface RunningService {
  readonly url: string;
  readonly port: number;
  readonly adminToken: string;
  /** Everything that the Worker writes. */
  readonly logFile: string;
  readonly locales: readonly string[];
}

declare module "vitest" {
  interface ProvidedContext {
    service: RunningService;
  }
}

/** Projects whose tests pause the service and change what is published. */
const CHANGING = ["dashboard", "backups"];
const LOCALES = ["en", "de", "ja", "ar", "ru", "zh"];
/** Fewer, for a service that publishes more than once. */
const CHANGING_LOCALES = ["en", "de"];

export default async function setup(
  project: TestProject,
): Promise<(() => Promise<void>) | undefined> {
  if (CHANGING.includes(project.name)) return startService(project, CHANGING_LOCALES);
  const everyProject = project.vitest.getRootProject();
  if (everyProject.getProvidedContext().service !== undefined) return undefined;
  if (!project.vitest.projects.some(({ name }) => name === "pages") && findBrowser() === undefined)
    console.warn(
      "The browser tests are left out: no Chromium was found. Install one, or name it in the variable CHROMIUM.",
    );
  return startService(everyProject, LOCALES);
}

/** Starts a service for the tests of a project. Returns what stops it. */
async function startService(
  project: TestProject,
  locales: readonly string[],
): Promise<() => Promise<void>> {
  const stateFolder = mkdtempSync(join(tmpdir(), "locations-system-"));
  const adminToken = randomBytes(32).toString("base64url");
  const sha256 = createHash("sha256").update(adminToken).digest("hex");
  const port = await freePort();
  const webhook = await WebhookReceiver.start();
  const worker = await LocalWorker.start({
    port,
    locales: locales.join(","),
    stateFolder,
    fresh: true,
    adminTokens: JSON.stringify([{ id: "system", sha256, scopes: ["read", "operate"] }]),
    vars: {
      ALERT_WEBHOOKS: JSON.stringify([{ name: "ops", kind: "slack", url: webhook.url }]),
      // Tests of a healthy service are not to fail on the day on which the snapshot is old.
      ALERT_DATA_OLD_MS: "315360000000",
    },
    say: () => undefined,
    signal: new AbortController().signal,
  });
  const options = { localeCount: locales.length, patienceMs: 600_000 };
  const published = worker.ingest(adminToken, options).then(
    (end) => (end.ok ? undefined : new Error(end.problem)),
    (error: unknown) => error,
  );
  project.provide("service", {
    url: worker.url,
    port,
    adminToken,
    logFile: worker.logFile,
    locales,
  });
  return async () => {
    await worker.stop();
    await webhook.goAway();
    rmSync(stateFolder, { recursive: true, force: true });
    const failure = await published;
    if (failure !== undefined) throw failure;
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
