/** Global setup of the project: one running service for all its files, published by a real ingest. */
import { createHash, randomBytes } from "node:crypto";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestProject } from "vitest/node";
import { ingest } from "../../scripts/local-ingest.ts";
import { LocalWorker } from "../../scripts/local-worker.ts";

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

const LOCALES = ["en", "de", "ja", "ar", "ru", "zh"];

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const stateFolder = mkdtempSync(join(tmpdir(), "locations-system-"));
  const adminToken = randomBytes(32).toString("base64url");
  const sha256 = createHash("sha256").update(adminToken).digest("hex");
  const port = await freePort();
  const worker = await LocalWorker.start({
    port,
    locales: LOCALES.join(","),
    stateFolder,
    fresh: true,
    adminTokens: JSON.stringify([{ id: "system", sha256, scopes: ["read", "operate"] }]),
    say: () => undefined,
    signal: new AbortController().signal,
  });
  async function teardown(): Promise<void> {
    await worker.stop();
    rmSync(stateFolder, { recursive: true, force: true });
  }
  try {
    await ingest(worker, adminToken, LOCALES.length);
  } catch (error) {
    await teardown();
    throw error;
  }
  project.provide("service", {
    url: worker.url,
    port,
    adminToken,
    logFile: worker.logFile,
    locales: LOCALES,
  });
  return teardown;
}

/** A port of the loopback interface that nobody listens on. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  server.close();
  await once(server, "close");
  if (address === null || typeof address === "string") throw new Error("no port was assigned");
  return address.port;
}
