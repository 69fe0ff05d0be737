/** Gives each file of tests a Worker that holds nothing, in its stores and in its modules. */
import {
  applyD1Migrations,
  listDurableObjectIds,
  reset,
  runInDurableObject,
} from "cloudflare:test";
import { env } from "cloudflare:workers";
import { vi } from "vitest";

/** Every binding that stores is simulated by a Durable Object, which is evicted when it is idle. */
async function wakeStores(): Promise<void> {
  await Promise.all([
    env.CATALOG.list({ limit: 1 }),
    env.ARCHIVE.list({ limit: 1 }),
    env.HISTORY.prepare("SELECT 1").all(),
    caches.default.match("http://localhost/"),
  ]);
  const namespaces: readonly DurableObjectNamespace[] = [env.COORDINATOR, env.BACKUPS, env.ALERTS];
  for (const namespace of namespaces)
    for (const id of await listDurableObjectIds(namespace)) {
      const wake = async () => runInDurableObject(namespace.get(id), () => {});
      // One that is awake is of the modules before: the first call throws it away, and says so.
      await wake().catch(wake);
    }
}

vi.resetModules();
// It empties what is awake, and skips what has been evicted.
await wakeStores();
await reset();
await applyD1Migrations(env.HISTORY, env.MIGRATIONS);
