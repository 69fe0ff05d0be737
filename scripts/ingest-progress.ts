import { setTimeout as sleep } from "node:timers/promises";
import { ProgressBar, type Units } from "./progress-bar.ts";

/** Calls an admin route and answers its JSON; throws where it is refused. */
export type AdminCall = (method: "GET" | "POST", path: string) => Promise<unknown>;

/** What `POST /admin/ingest/queue` answers, as far as it is needed here. */
export interface QueueAnswer {
  readonly run: RunAnswer;
}

/** What `GET /admin/ingest/runs/{id}` answers, as far as it is shown here. */
export interface RunAnswer {
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

/** What a run came to: the generation that is published then, what went wrong, or a pause. */
export type IngestEnd =
  | { readonly ok: true; readonly generation: number }
  | { readonly ok: false; readonly reason: "failed"; readonly problem: string }
  | { readonly ok: false; readonly reason: "paused" };

export interface FollowOptions {
  readonly call: AdminCall;
  readonly runId: string;
  /** Locales that are to be published. */
  readonly localeCount: number;
  readonly pollMs: number;
}

export async function queueIngest(call: AdminCall): Promise<QueueAnswer> {
  return (await call("POST", "/admin/ingest/queue")) as QueueAnswer; // our own API
}

/** Shows the progress of a run until it has ended, or stands still because ingestion is paused. */
export async function followIngest(options: FollowOptions): Promise<IngestEnd> {
  const { call, runId, localeCount, pollMs } = options;
  const bar = new ProgressBar(process.stdout);
  let before: RunAnswer | undefined;
  for (;;) {
    const seen = (await call("GET", `/admin/ingest/runs/${runId}`)) as RunAnswer; // our own API
    const { done, total } = seen.progress;
    if (total === 0) bar.show(seen.stage ?? "waiting");
    else bar.show(seen.stage ?? "waiting", unitsOf(seen.progress, localeCount), done / total);
    if (seen.state === "succeeded") {
      bar.end(`Catalog ${seen.outcome}.`);
      return { ok: true, generation: seen.generation_after ?? seen.generation_before ?? 0 };
    }
    if (seen.state !== "queued" && seen.state !== "running") {
      bar.end(`Ingest ${seen.state}.`);
      const { stage, code, message } = seen.error ?? { stage: "?", code: "?", message: "?" };
      const problem = `The ingest ${seen.state} in stage ${stage}: ${message} (${code})`;
      return { ok: false, reason: "failed", problem };
    }
    if (mayBePaused(seen, before) && (await isPaused(call))) {
      bar.end("Ingestion is paused.");
      return { ok: false, reason: "paused" };
    }
    before = seen;
    await sleep(pollMs);
  }
}

/** Whether a run has not gone on since the poll before, in a stage that a pause holds up. */
function mayBePaused(seen: RunAnswer, before: RunAnswer | undefined): boolean {
  return (
    seen.stage !== "verify" && // It has published, and ends also while paused.
    seen.state === before?.state &&
    seen.stage === before.stage &&
    seen.progress.done === before.progress.done
  );
}

async function isPaused(call: AdminCall): Promise<boolean> {
  const { paused } = (await call("GET", "/admin/ingest/runs?limit=1")) as {
    readonly paused: boolean | null;
  }; // our own API
  return paused === true;
}

/** What a run works through: it compresses what all locales share, then one locale after the other. */
function unitsOf({ done, total }: RunAnswer["progress"], localeCount: number): Units {
  const shared = total - localeCount;
  return done < shared
    ? { name: "common part", done, total: shared, areLast: false }
    : { name: "locales", done: done - shared, total: localeCount, areLast: true };
}
