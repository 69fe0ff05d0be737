import { setTimeout as sleep } from "node:timers/promises";
import { type AdminCall, followIngest, queueIngest } from "./ingest-progress.ts";
import type { LocalWorker } from "./local-worker.ts";
import { StartError } from "./start-error.ts";

const POLL_MS = 250;
const CALL_DEADLINE_MS = 120_000;

/**
 * Queues an ingest and shows its progress until it has ended. Where the same catalog is published
 * already, the run says so within seconds and changes nothing.
 *
 * @param localeCount locales that are to be published.
 * @returns the generation that is published then.
 * @throws StartError when the run fails or the Worker ends.
 */
export async function ingest(
  worker: LocalWorker,
  token: string,
  localeCount: number,
): Promise<number> {
  const call: AdminCall = async (method, path) => {
    try {
      const answer = await fetch(`${worker.url}${path}`, {
        method,
        headers: { authorization: `Bearer ${token}` },
        signal: AbortSignal.timeout(CALL_DEADLINE_MS),
      });
      if (answer.ok) return await answer.json();
      throw new StartError(`${method} ${path}: ${answer.status} ${await answer.text()}`);
    } catch (error) {
      if (error instanceof StartError) throw error;
      worker.assertAlive();
      throw new StartError(
        `The ingest cannot be followed: ${method} ${path} got no answer (${String(error)}). The log may say why: ${worker.logFile}`,
      );
    }
  };
  const { run } = await queueIngest(call);
  const end = await followIngest({ call, runId: run.id, localeCount, pollMs: POLL_MS });
  if (!end.ok) throw new StartError(end.problem);
  return end.generation;
}

/**
 * Waits until a generation is served.
 *
 * @returns the length of each of its lists.
 */
export async function servedCounts(
  worker: LocalWorker,
  generation: number,
): Promise<{ readonly [list: string]: number }> {
  for (;;) {
    worker.assertAlive();
    const answer = await fetch(`${worker.url}/catalog/health`).catch(() => undefined);
    if (answer?.ok) {
      const health = await answer.json<{ version: string; counts: { [list: string]: number } }>();
      if (Number(health.version) >= generation) return health.counts;
    }
    await sleep(POLL_MS);
  }
}
