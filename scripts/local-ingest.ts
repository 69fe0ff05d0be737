import { setTimeout as sleep } from "node:timers/promises";
import { askHealth, describeLag, type Health } from "./catalog-health.ts";
import { type AdminCall, followIngest, queueIngest } from "./ingest-progress.ts";
import type { LocalWorker } from "./local-worker.ts";
import { StartError } from "./start-error.ts";

const POLL_MS = 250;
const CALL_DEADLINE_MS = 120_000;
const SERVED_DEADLINE_MS = 60_000;

/** A Worker that is asked over HTTP, and known to run or not. */
type AskedWorker = Pick<LocalWorker, "url" | "logFile" | "assertAlive">;

/**
 * Queues an ingest and shows its progress until it has ended, or until ingestion is found paused.
 * Where the same catalog is published already, the run says so within seconds and changes nothing.
 *
 * @param localeCount locales that are to be published.
 * @returns the generation that is published then; undefined while ingestion is paused.
 * @throws StartError when the run fails or the Worker ends.
 */
export async function ingest(
  worker: AskedWorker,
  token: string,
  localeCount: number,
): Promise<number | undefined> {
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
  if (end.ok) return end.generation;
  if (end.reason === "paused") return undefined;
  throw new StartError(end.problem);
}

/**
 * Waits until the service says how it is, and that it serves a generation or newer.
 *
 * @param generation 0 to be content with any answer.
 * @throws StartError if it does not in time, or the Worker ends.
 */
export async function untilServedHere(
  worker: AskedWorker,
  generation: number,
  deadlineMs = SERVED_DEADLINE_MS,
): Promise<Health> {
  const deadline = AbortSignal.timeout(deadlineMs);
  let last = "no answer";
  while (!deadline.aborted) {
    worker.assertAlive();
    const seen = await askHealth(worker.url, deadline);
    if (seen.ok && (seen.health.version ?? 0) >= generation) return seen.health;
    if (!deadline.aborted) last = describeLag(seen);
    await sleep(POLL_MS);
  }
  throw new StartError(
    `${worker.url}/catalog/health does not answer as it should, with version ${generation}: ${last}. The log may say why: ${worker.logFile}`,
  );
}
