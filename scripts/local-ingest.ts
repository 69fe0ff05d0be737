import { setTimeout as sleep } from "node:timers/promises";
import type { LocalWorker } from "./local-worker.ts";
import { ProgressBar } from "./progress-bar.ts";
import { StartError } from "./start-error.ts";

/** What `GET /admin/ingest/runs/{id}` answers, as far as it is shown here. */
interface RunAnswer {
  readonly id: string;
  readonly state: string;
  readonly outcome: string | null;
  readonly stage: string | null;
  readonly progress: { readonly done: number; readonly total: number };
  readonly generation_before: number | null;
  readonly generation_after: number | null;
  readonly error: {
    readonly code: string;
    readonly stage: string;
    readonly message: string;
  } | null;
}

const POLL_MS = 250;
const CALL_DEADLINE_MS = 30_000;

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
  const call = async (method: string, path: string): Promise<unknown> => {
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
  const { run } = (await call("POST", "/admin/ingest/queue")) as { run: RunAnswer }; // our own API
  const bar = new ProgressBar(process.stdout);
  for (;;) {
    const seen = (await call("GET", `/admin/ingest/runs/${run.id}`)) as RunAnswer; // our own API
    bar.show(seen.stage ?? "waiting", seen.progress, describeUnits(seen.progress, localeCount));
    if (seen.state === "succeeded") {
      bar.end(`Catalog ${seen.outcome}.`);
      return seen.generation_after ?? seen.generation_before ?? 0;
    }
    if (seen.state !== "queued" && seen.state !== "running") {
      bar.end(`Ingest ${seen.state}.`);
      const { stage, code, message } = seen.error ?? { stage: "?", code: "?", message: "?" };
      throw new StartError(`The ingest ${seen.state} in stage ${stage}: ${message} (${code})`);
    }
    await sleep(POLL_MS);
  }
}

/** How far a run is: it compresses what all locales share, then one locale after the other. */
function describeUnits({ done, total }: RunAnswer["progress"], localeCount: number): string {
  const shared = total - localeCount;
  return done < shared
    ? `common part ${done} of ${shared}, 0 of ${localeCount} locales`
    : `${done - shared} of ${localeCount} locales`;
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
