/** Runs in workerd what wrangler has uploaded, with the bindings that the upload names. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { convertV4MiniflareOptions, Miniflare } from "miniflare";
import type { Binding, Version } from "./fake-cloudflare.ts";

const MODULE_TYPES: { readonly [mime: string]: "ESModule" | "Text" | "Data" } = {
  "application/javascript+module": "ESModule",
  "text/plain": "Text",
  "application/octet-stream": "Data",
};

export class DeployedWorker {
  readonly url: string;
  readonly #miniflare: Miniflare;
  readonly #folder: string;

  private constructor(url: string, miniflare: Miniflare, folder: string) {
    this.url = url;
    this.#miniflare = miniflare;
    this.#folder = folder;
  }

  /** @param vars instead of those that were uploaded, which want the network and minutes. */
  static async start(
    version: Version,
    vars: { readonly [name: string]: string },
  ): Promise<DeployedWorker> {
    const folder = mkdtempSync(join(tmpdir(), "locations-deployed-"));
    const assets = join(folder, "assets");
    for (const [path, bytes] of version.assets) {
      mkdirSync(dirname(join(assets, path)), { recursive: true });
      writeFileSync(join(assets, path), bytes);
    }
    const { bindings } = version;
    const miniflare = new Miniflare({
      ...convertV4MiniflareOptions({
        workers: [
          {
            name: "deployed",
            rootPath: folder,
            modulesRoot: folder,
            modules: await modulesOf(version, folder),
            compatibilityDate: version.compatibility_date,
            compatibilityFlags: [...version.compatibility_flags],
            bindings: {
              ...valuesOf(bindings, "plain_text", "text"),
              ...valuesOf(bindings, "secret_text", "text"),
              ...vars,
            },
            kvNamespaces: valuesOf(bindings, "kv_namespace", "namespace_id"),
            r2Buckets: valuesOf(bindings, "r2_bucket", "bucket_name"),
            d1Databases: valuesOf(bindings, "d1", "id"),
            versionMetadata: bindings.find(({ type }) => type === "version_metadata")?.name ?? "",
            durableObjects: Object.fromEntries(
              Object.entries(valuesOf(bindings, "durable_object_namespace", "class_name")).map(
                ([name, className]) => [name, { className, useSQLite: true }],
              ),
            ),
            ratelimits: Object.fromEntries(
              bindings.flatMap(({ name, namespace_id = "", simple }) =>
                simple === undefined ? [] : [[name, { namespace_id, simple }]],
              ),
            ),
            assets: {
              directory: assets,
              binding: bindings.find(({ type }) => type === "assets")?.name ?? "",
              routerConfig: { has_user_worker: true },
            },
          },
        ],
        port: 0,
        unsafeTriggerHandlers: true,
        cf: false,
      }),
      resourcePersistencePath: join(folder, "state"),
    });
    return new DeployedWorker((await miniflare.ready).origin, miniflare, folder);
  }

  /** Fires a cron trigger, and waits until its job is done. */
  async fire(cron: string): Promise<void> {
    const url = `${this.url}/cdn-cgi/local/scheduled?cron=${encodeURIComponent(cron)}`;
    const answer = await fetch(url);
    if (!answer.ok) throw new Error(`${cron}: ${await answer.text()}`);
    await answer.body?.cancel();
  }

  async stop(): Promise<void> {
    await this.#miniflare.dispose();
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

/** The modules, the entry point first. Those that are no code, such as source maps, are left out. */
async function modulesOf({ modules, main_module }: Version, folder: string) {
  const entryFirst = modules.toSorted(
    (a, b) => Number(b.name === main_module) - Number(a.name === main_module),
  );
  const known = entryFirst.flatMap((file) => {
    const type = MODULE_TYPES[file.type];
    return type === undefined ? [] : [{ file, type }];
  });
  return Promise.all(
    known.map(async ({ file, type }) => ({
      type,
      path: join(folder, file.name),
      contents: Buffer.from(await file.arrayBuffer()),
    })),
  );
}

/** A field of all bindings of a type, by their names. */
function valuesOf(
  bindings: readonly Binding[],
  type: string,
  field: "text" | "namespace_id" | "bucket_name" | "id" | "class_name",
): Record<string, string> {
  const found = bindings.filter((binding) => binding.type === type);
  return Object.fromEntries(found.map((binding) => [binding.name, binding[field] ?? ""]));
}
