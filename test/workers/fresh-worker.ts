/** Gives each file of tests a Worker that holds nothing: no store does, and no module holds a catalog. */
import {
  abortAllDurableObjects,
  applyD1Migrations,
  listDurableObjectIds,
  reset,
  runInDurableObject,
} from "cloudflare:test";
import { env } from "cloudflare:workers";
import { vi } from "vitest";

/**
 * Every binding that stores is simulated by a Durable Object, which is evicted when it is idle.
 *
 * @returns whether a catalog is published.
 */
async function wakeStores(): Promise<boolean> {
  const [{ keys }] = await Promise.all([
    env.CATALOG.list({ limit: 1 }),
    env.ARCHIVE.list({ limit: 1 }),
    env.BACKUPS.list({ limit: 1 }),
    env.HISTORY.prepare("SELECT 1").all(),
    caches.default.match("http://localhost/"),
  ]);
  const namespaces: readonly DurableObjectNamespace[] = [env.COORDINATOR, env.ALERTS];
  for (const namespace of namespaces)
    for (const id of await listDurableObjectIds(namespace))
      await runInDurableObject(namespace.get(id), () => {});
  return keys.length > 0;
}

// `reset` empties what is awake, and skips what has been evicted. Modules come last: an object that is
// awake is of those before. What an object is about to write when its tests are over would be found by
// the next.
await abortAllDurableObjects();
const isPublished = await wakeStores();
await reset();
if (isPublished) vi.resetModules();
await applyD1Migrations(env.HISTORY, env.MIGRATIONS);
