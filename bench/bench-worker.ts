import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { convertV4MiniflareOptions, Miniflare } from "miniflare";
import { unstable_readConfig } from "wrangler";
import { localAdminToken } from "../scripts/local-admin-token.ts";
import { dropKey } from "../src/storage/keys.ts";

const NAME = "bench";
/** The same bundle in an isolate of its own, so that its large heap slows down nobody else. */
const STOCK_NAME = "stock";
const ENTRY_POINT = "worker.js";

/** The benchmark's Worker in workerd, reached without a proxy in between. */
export class BenchWorker {
  readonly port: number;
  readonly stockPort: number;
  readonly #miniflare: Miniflare;
  readonly #folder: string;
  readonly #token: string;

  private constructor(
    ports: { readonly port: number; readonly stockPort: number },
    miniflare: Miniflare,
    folder: string,
    token: string,
  ) {
    this.port = ports.port;
    this.stockPort = ports.stockPort;
    this.#miniflare = miniflare;
    this.#folder = folder;
    this.#token = token;
  }

  /** Bundles the Worker as a deploy would, and starts it with empty stores. */
  static async start(): Promise<BenchWorker> {
    const folder = mkdtempSync(join(tmpdir(), "bench-"));
    bundle(folder);
    const token = localAdminToken();
    const config = unstable_readConfig({ config: "wrangler.toml" });
    const miniflare = new Miniflare(
      convertV4MiniflareOptions({
        workers: [NAME, STOCK_NAME].map((name) => ({
          name,
          rootPath: folder,
          modulesRoot: folder,
          modules: modules(folder),
          compatibilityDate: config.compatibility_date ?? "",
          compatibilityFlags: config.compatibility_flags,
          bindings: { ...config.vars, ADMIN_TOKENS: token.secret },
          versionMetadata: "VERSION",
          kvNamespaces: ["CATALOG"],
          r2Buckets: ["ARCHIVE"],
          d1Databases: ["HISTORY"],
          durableObjects: {
            ALERTS: { className: "AlertMonitor", useSQLite: true },
            BACKUPS: { className: "BackupCoordinator", useSQLite: true },
            COORDINATOR: { className: "IngestCoordinator", useSQLite: true },
          },
          unsafeDirectSockets: [{ host: "127.0.0.1", port: 0 }],
        })),
        defaultPersistRoot: join(folder, "state"),
        handleStructuredLogs({ level, message }) {
          if (level === "error") process.stderr.write(`${message}\n`);
        },
      }),
    );
    await miniflare.ready;
    const database = await miniflare.getD1Database("HISTORY", NAME);
    for (const file of migrationFiles())
      for (const statement of readFileSync(file, "utf8").split("--> statement-breakpoint"))
        await database.prepare(statement).run();
    const ports = {
      port: await portOf(miniflare, NAME),
      stockPort: await portOf(miniflare, STOCK_NAME),
    };
    return new BenchWorker(ports, miniflare, folder, token.text);
  }

  async call(method: string, path: string, body?: object): Promise<unknown> {
    const headers = { authorization: `Bearer ${this.#token}` };
    const answer = await fetch(`http://127.0.0.1:${this.port}${path}`, {
      method,
      headers,
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
    return answer.json();
  }

  /** Puts a file where the source `dropped` finds it. */
  async drop(name: string, bytes: Uint8Array): Promise<void> {
    const bucket = await this.#miniflare.getR2Bucket("ARCHIVE", NAME);
    await bucket.put(dropKey(name), bytes);
  }

  /** The database, behind the Worker's back. */
  database() {
    return this.#miniflare.getD1Database("HISTORY", NAME);
  }

  async stop(): Promise<void> {
    await this.#miniflare.dispose();
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

function migrationFiles(): string[] {
  const names = readdirSync("migrations").filter((name) => name.endsWith(".sql"));
  return names.toSorted().map((name) => join("migrations", name));
}

async function portOf(miniflare: Miniflare, name: string): Promise<number> {
  return Number((await miniflare.unsafeGetDirectURL(name)).port);
}

/** The bundle's files, the entry point first. */
function modules(folder: string) {
  const types = { ".js": "ESModule", ".gz": "Data", ".md": "Text" } as const;
  return readdirSync(folder)
    .toSorted((a, b) => Number(b === ENTRY_POINT) - Number(a === ENTRY_POINT))
    .flatMap((name) => {
      const [, type] = Object.entries(types).find(([ending]) => name.endsWith(ending)) ?? [];
      return type === undefined ? [] : [{ type, path: join(folder, name) }];
    });
}

function bundle(folder: string): void {
  const command = ["deploy", "bench/worker.ts", "--dry-run", `--outdir=${folder}`];
  const { status, stderr } = spawnSync("wrangler", command, { encoding: "utf8" });
  if (status !== 0) throw new Error(stderr);
}
