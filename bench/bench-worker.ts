import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { convertV4MiniflareOptions, Miniflare, type MiniflareOptions } from "miniflare";
import { unstable_readConfig } from "wrangler";
import { localAdminToken } from "../scripts/local-admin-token.ts";
import type { Manifest } from "../src/parts/manifest.ts";
import { dropKey } from "../src/storage/keys.ts";
import { IsolateHeap } from "../test/chaos/isolate-heap.ts";
import { bundleModules, bundleWorker, rateLimits } from "./bundle.ts";
import { createTables } from "./migrations.ts";

const NAME = "bench";
/** The same bundle in a separate isolate, so that its large heap slows down no other. */
const STOCK_NAME = "stock";

/** How a benchmark's Worker differs from the usual one. */
export interface BenchWorkerOptions {
  /** Its entry point. */
  readonly entry?: string;
  /** Is called with each line of workerd's output. */
  readonly onLine?: (line: string) => void;
  /** Is called with the folder of the bundle before it is loaded. */
  readonly adapt?: (bundle: string) => void;
  /** Whether the memory of its isolate can be looked at, by `heap`. */
  readonly inspected?: boolean;
  /** Settings that differ from their defaults; it compresses as where it is deployed. */
  readonly vars?: { readonly [name: string]: string };
}

/** What `GET /catalog/health` answers, as far as it is looked at here. */
export interface CatalogHealth {
  readonly counts: Manifest["counts"];
  readonly locales: readonly { readonly locale: string; readonly bytes: number }[];
}

/** The benchmark's Worker in workerd, reached without a proxy in between. */
export class BenchWorker {
  port: number;
  stockPort: number;
  readonly #miniflare: Miniflare;
  readonly #options: MiniflareOptions;
  readonly #folder: string;
  readonly #token: string;

  private constructor(
    ports: { readonly port: number; readonly stockPort: number },
    miniflare: Miniflare,
    options: MiniflareOptions,
    folder: string,
    token: string,
  ) {
    this.port = ports.port;
    this.stockPort = ports.stockPort;
    this.#miniflare = miniflare;
    this.#options = options;
    this.#folder = folder;
    this.#token = token;
  }

  /** Bundles the Worker as a deploy would, and starts it with empty stores. */
  static async start({
    entry = "bench/worker.ts",
    onLine = () => {},
    adapt = () => {},
    inspected = false,
    vars = {},
  }: BenchWorkerOptions = {}): Promise<BenchWorker> {
    const folder = mkdtempSync(join(tmpdir(), "bench-"));
    bundleWorker(entry, folder);
    adapt(folder);
    const options = convertV4MiniflareOptions({
      workers: [NAME, STOCK_NAME].map((name) => ({
        name,
        ...benchBindings(folder, vars),
        unsafeDirectSockets: [{ host: "127.0.0.1", port: 0 }],
      })),
      defaultPersistRoot: join(folder, "state"),
      ...(inspected && { inspectorPort: 0 }),
      handleStructuredLogs({ level, message }) {
        onLine(message);
        if (level === "error") process.stderr.write(`${message}\n`);
      },
    });
    const miniflare = new Miniflare(options);
    await miniflare.ready;
    await createTables(await miniflare.getD1Database("HISTORY", NAME));
    return new BenchWorker(
      await portsOf(miniflare),
      miniflare,
      options,
      folder,
      localAdminToken().text,
    );
  }

  /** Ends workerd, and starts it again on the same stores, with isolates that hold nothing. */
  async restart(): Promise<void> {
    await this.#miniflare.setOptions(this.#options);
    await this.#miniflare.ready;
    ({ port: this.port, stockPort: this.stockPort } = await portsOf(this.#miniflare));
  }

  /** Waits as long as it takes: Node's own fetch gives up after five minutes. */
  async call(method: string, path: string, body?: object): Promise<unknown> {
    const headers = {
      authorization: `Bearer ${this.#token}`,
      "content-type": "application/json",
    };
    const answer = await this.#miniflare.dispatchFetch(`http://127.0.0.1${path}`, {
      method,
      headers,
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
    return answer.json();
  }

  async health(): Promise<CatalogHealth> {
    return (await this.call("GET", "/catalog/health")) as CatalogHealth; // our API
  }

  /** Puts a file where the source `dropped` finds it. */
  async drop(name: string, bytes: Uint8Array): Promise<void> {
    const bucket = await this.#miniflare.getR2Bucket("ARCHIVE", NAME);
    await bucket.put(dropKey(name), bytes);
  }

  /** The published catalog, behind the Worker's back. */
  catalog() {
    return this.#miniflare.getKVNamespace("CATALOG", NAME);
  }

  /** The memory of its isolate, if it is `inspected`. */
  async heap(): Promise<IsolateHeap> {
    return IsolateHeap.open(Number((await this.#miniflare.getInspectorURL()).port), NAME);
  }

  async stop(): Promise<void> {
    await this.#miniflare.dispose();
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

/** A bundle with the bindings of the service, as Miniflare wants them. */
export function benchBindings(folder: string, vars: NonNullable<BenchWorkerOptions["vars"]> = {}) {
  const config = unstable_readConfig({ config: "wrangler.toml" });
  return {
    rootPath: folder,
    modulesRoot: folder,
    modules: bundleModules(folder),
    compatibilityDate: config.compatibility_date ?? "",
    compatibilityFlags: config.compatibility_flags,
    bindings: {
      COMPRESSION: "best",
      ...vars,
      ADMIN_TOKENS: localAdminToken().secret,
    },
    versionMetadata: "VERSION",
    // Without the Worker that routes requests for assets, whose time would be measured with them.
    serviceBindings: { ASSETS: { disk: { path: resolve("dist/web") } } },
    kvNamespaces: ["CATALOG"],
    r2Buckets: ["ARCHIVE", "BACKUPS"],
    ratelimits: rateLimits(config),
    d1Databases: ["HISTORY"],
    durableObjects: {
      ALERTS: { className: "AlertMonitor", useSQLite: true },
      COORDINATOR: { className: "IngestCoordinator", useSQLite: true },
    },
  };
}

async function portsOf(miniflare: Miniflare) {
  return {
    port: await portOf(miniflare, NAME),
    stockPort: await portOf(miniflare, STOCK_NAME),
  };
}

async function portOf(miniflare: Miniflare, name: string): Promise<number> {
  return Number((await miniflare.unsafeGetDirectURL(name)).port);
}
