/** The coordinator as tests see it: from outside, and what it has stored. */
import { env } from "cloudflare:workers";
import { vi } from "vitest";
import { INSTANCE_NAME } from "../../../src/ingest/coordinator.ts";
import type { Run } from "../../../src/ingest/run.ts";
import { createCatalogStore } from "../../../src/storage/catalog-store.ts";

/** How long a run may take, also on a slow machine. */
export const RUN_TIMEOUT_MS = 180_000;

export const store = createCatalogStore(env.CATALOG, env.ARCHIVE);

/** A stub for each call: one that saw its object reset stays broken. */
export function coordinator() {
  return env.COORDINATOR.getByName(INSTANCE_NAME);
}

/** Waits until a run is as `done` says. */
export function runWhen(id: string, done: (run: Run) => boolean): Promise<Run> {
  const look = async () => {
    const run = await coordinator().findRun(id);
    if (run === null || !done(run)) throw new Error(`not yet: ${JSON.stringify(run)}`);
    return run;
  };
  return vi.waitFor(look, { timeout: RUN_TIMEOUT_MS, interval: 25 });
}

export function runEnded(id: string): Promise<Run> {
  return runWhen(id, ({ finishedAt }) => finishedAt !== null);
}

/** The manifest that is served. */
export async function servedManifest() {
  const copy = await store.readManifest("kv");
  if (!copy.ok) throw new Error(copy.detail);
  return copy.value;
}

/** Rows of the run history in D1, oldest first. */
export async function historyRows(): Promise<readonly Record<string, unknown>[]> {
  const { results } = await env.HISTORY.prepare("SELECT * FROM ingest_runs ORDER BY id").all();
  return results;
}
