import { spawnSync } from "node:child_process";
import { readdirSync } from "node:fs";
import { join } from "node:path";

/** Bundles a Worker as a deploy would, or without shortening the names in its code. */
export function bundleWorker(entry: string, folder: string, { minify = true } = {}): void {
  const command = ["deploy", entry, "--dry-run", `--outdir=${folder}`, `--minify=${minify}`];
  const { error, status, stderr } = spawnSync("wrangler", command, { encoding: "utf8" });
  if (status !== 0) throw error ?? new Error(stderr);
}

/** The bundle's files, the entry point first, which is all of its code. */
export function bundleModules(folder: string) {
  const types = { ".js": "ESModule", ".md": "Text", ".sql": "Text" } as const;
  return readdirSync(folder)
    .toSorted((a, b) => Number(b.endsWith(".js")) - Number(a.endsWith(".js")))
    .flatMap((name) => {
      const [, type] = Object.entries(types).find(([ending]) => name.endsWith(ending)) ?? [];
      return type === undefined ? [] : [{ type, path: join(folder, name) }];
    });
}

/** A rate limit as wrangler.toml has it. */
interface RateLimitConfig {
  readonly name: string;
  readonly namespace_id: string;
  readonly simple: { readonly limit: number; readonly period: 10 | 60 };
}

/** The rate limits of wrangler.toml, as Miniflare wants them. */
export function rateLimits({ ratelimits }: { readonly ratelimits: readonly RateLimitConfig[] }) {
  return Object.fromEntries(ratelimits.map(({ name, ...limit }) => [name, limit]));
}
