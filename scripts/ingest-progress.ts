import { setTimeout as sleep } from "node:timers/promises";
import { findRefusals, type GuardTrip } from "../src/ingest/guards.ts";
import { ProgressBar, type Units } from "./progress-bar.ts";
import type { AdminAnswer, AdminCall, Served } from "./service-call.ts";

interface Progress {
  readonly done: number;
  readonly total: number;
}

/** A run as the admin routes show it, as far as it is shown here. */
interface Run {
  readonly id: string;
  readonly state: string;
  readonly outcome: string | null;
  readonly stage: string | null;
  readonly progress: Progress;
  readonly generation_before: number | null;
  readonly generation_after: number | null;
  readonly error: {
    readonly code: string;
    readonly stage: string;
    readonly message: string;
  } | null;
  readonly guards: readonly GuardTrip[];
}

/** What works while the run waits: a backup job or another run. */
interface Ahead {
  readonly what: string;
  readonly progress: Progress;
}

/** What an ingest came to. `problem` says in a sentence or two why nothing new is published. */
export type IngestEnd =
  | { readonly ok: true; readonly generation: number; readonly isNew: boolean }
  | {
      readonly ok: false;
      readonly reason: "failed" | "paused" | "refused" | "stalled";
      readonly problem: string;
      /** Id of a run whose candidate `force` would publish. */
      readonly approvable?: string;
      /** Whether another run would fail in the same way until somebody has taken over the stores. */
      readonly isForeign?: boolean;
    };

/** Whether an answer will not change: it shows what an ingest came to, or a loss that it left as it was. */
export function shows(served: Served, end: IngestEnd): boolean {
  if (!end.ok) return true;
  return served.ok
    ? served.generation >= end.generation
    : served.code === "data_loss" && !end.isNew;
}

export interface IngestOptions {
  readonly call: AdminCall;
  /** Locales that are to be published. */
  readonly localeCount: number;
  readonly pollMs: number;
  /** How long nothing may move before the run is no longer followed. */
  readonly patienceMs: number;
  /** Throws where nothing runs that could answer; its error ends the ingest. */
  readonly assertAlive?: () => void;
  /** Ends it with an error when it aborts. */
  readonly signal?: AbortSignal;
  /** Where progress is shown. */
  readonly out?: ConstructorParameters<typeof ProgressBar>[0];
}

/**
 * Queues an ingest and shows its progress until it ends, until ingestion is found paused, or until
 * nothing has moved for too long. A failed call is made again. Where the same catalog is published
 * already, the run says so within seconds and changes nothing.
 */
export async function ingest(options: IngestOptions): Promise<IngestEnd> {
  const { call, pollMs, assertAlive = () => undefined, out = process.stdout, signal } = options;
  const bar = new ProgressBar(out);
  const movement = new Movement(options.patienceMs);
  let run: Run | undefined;
  for (;;) {
    assertAlive();
    const answer = await askForRun(call, run?.id);
    const seen = await look({ call, answer, before: run });
    if ("end" in seen) {
      bar.end(seen.message);
      return seen.end;
    }
    if (answer.ok) run = runOf(answer);
    if (run !== undefined) showProgress(bar, { run, ahead: seen.ahead }, options.localeCount);
    const where = seen.ahead?.what ?? run?.stage ?? "waiting";
    if (movement.hasStopped(answer.ok && [run?.stage, run?.progress, seen.ahead])) {
      const why = answer.ok ? `It stays at: ${where}.` : `${answer.problem}.`;
      bar.end("The ingest does not go on.");
      const problem = `The ingest has not gone on for ${movement.describePatience()}. ${why}`;
      return { ok: false, reason: "stalled", problem };
    }
    await sleep(pollMs, undefined, { signal });
  }
}

/** Queueing twice does no harm: the second call gets the run that waits already. */
function askForRun(call: AdminCall, id: string | undefined): Promise<AdminAnswer> {
  return id === undefined
    ? call("POST", "/admin/ingest/queue")
    : call("GET", `/admin/ingest/runs/${id}`);
}

/** Both calls are of our own API. */
function runOf({ body }: Extract<AdminAnswer, { ok: true }>): Run {
  const answer = body as Run | { readonly run: Run };
  return "run" in answer ? answer.run : answer;
}

type Seen =
  { readonly end: IngestEnd; readonly message: string } | { readonly ahead: Ahead | undefined };

interface Look {
  readonly call: AdminCall;
  readonly answer: AdminAnswer;
  readonly before: Run | undefined;
}

/** What an answer about the run means: its end, or what it waits for. */
async function look({ call, answer, before }: Look): Promise<Seen> {
  if (!answer.ok) {
    const { status, code, problem } = answer;
    const mayPass = status === 0 || (status >= 500 && code !== "other_version");
    if (mayPass) return { ahead: undefined };
    if ((await findAhead(call)) === "paused") return PAUSED;
    const end = {
      ok: false,
      reason: "refused",
      problem: `No ingest is queued: ${problem}`,
    } as const;
    return { end, message: "The ingest was refused." };
  }
  const run = runOf(answer);
  if (run.state === "succeeded") {
    const generation = run.generation_after ?? run.generation_before ?? 0;
    const isNew = run.outcome === "published";
    return { end: { ok: true, generation, isNew }, message: `Catalog ${run.outcome}.` };
  }
  if (run.state !== "queued" && run.state !== "running")
    return { end: describeFailure(run), message: `Ingest ${run.state}.` };
  if (before !== undefined && !stands(run, before)) return { ahead: undefined };
  const ahead = await findAhead(call, run.id);
  // A run that verifies has published, and ends also while paused.
  if (ahead === "paused") return run.stage === "verify" ? { ahead: undefined } : PAUSED;
  return { ahead };
}

const PAUSED: Seen = {
  end: { ok: false, reason: "paused", problem: "Ingestion is paused: nothing new is published." },
  message: "Ingestion is paused.",
};

function describeFailure({ id, state, error, guards }: Run): IngestEnd {
  const { stage, code, message } = error ?? { stage: "?", code: "?", message: "?" };
  const problem = `The ingest ${state} in stage ${stage}: ${message} (${code})`;
  const isApprovable = stage === "guard" && findRefusals(guards, true).length === 0;
  const isForeign = code === "foreign_stores";
  return {
    ok: false,
    reason: "failed",
    problem,
    ...(isApprovable && { approvable: id }),
    ...(isForeign && { isForeign }),
  };
}

function stands(run: Run, before: Run): boolean {
  return (
    run.state === before.state &&
    run.stage === before.stage &&
    run.progress.done === before.progress.done
  );
}

interface Job {
  readonly kind: keyof typeof JOB_NAMES;
  readonly backup_id: string;
  readonly state: string;
  readonly stage: string | null;
  readonly progress: Progress;
}

const JOB_NAMES = {
  run: "backup",
  verify: "verification of backup",
  restore: "restore of backup",
} as const;

/** What works now, besides a run; undefined if nothing does, or nobody says. */
async function findAhead(call: AdminCall, id?: string): Promise<Ahead | "paused" | undefined> {
  const jobs = await call("GET", "/admin/backup/jobs");
  const runs = await call("GET", "/admin/ingest/runs?state=running&limit=1");
  // Our own API.
  const { jobs: listed } = (jobs.ok ? jobs.body : { jobs: [] }) as { readonly jobs: Job[] };
  const { runs: running, paused } = (runs.ok ? runs.body : { runs: [], paused: null }) as {
    readonly runs: Run[];
    readonly paused: boolean | null;
  };
  const job = listed.find(({ state }) => state === "running");
  if (job !== undefined) {
    const { kind, backup_id, stage, progress } = job;
    return { what: `waiting for the ${JOB_NAMES[kind]} ${backup_id}: ${stage}`, progress };
  }
  if (paused === true) return "paused";
  const other = running.find((run) => run.id !== id);
  return other && { what: `waiting for run ${other.id}: ${other.stage}`, progress: other.progress };
}

function showProgress(
  bar: ProgressBar,
  { run, ahead }: { readonly run: Run; readonly ahead: Ahead | undefined },
  localeCount: number,
): void {
  const { done, total } = ahead?.progress ?? run.progress;
  const what = ahead?.what ?? run.stage ?? "waiting";
  if (total === 0) bar.show(what);
  else if (ahead !== undefined) bar.show(what, { name: "parts", done, total });
  else bar.show(what, unitsOf(run.progress, localeCount), done / total);
}

/** What a run works through: it compresses what all locales share, then one locale after the other. */
function unitsOf({ done, total }: Progress, localeCount: number): Units {
  const shared = total - localeCount;
  return done < shared
    ? { name: "common part", done, total: shared }
    : { name: "locales", done: done - shared, total: localeCount };
}

/** Tells when nothing has changed for too long. */
class Movement {
  readonly #patienceMs: number;
  #last = "";
  #at = Date.now();

  constructor(patienceMs: number) {
    this.#patienceMs = patienceMs;
  }

  /** @param place where the work is; false where nobody says. */
  hasStopped(place: unknown): boolean {
    const text = place === false ? this.#last : JSON.stringify(place);
    const now = Date.now();
    if (text !== this.#last) this.#at = now;
    this.#last = text;
    return now - this.#at > this.#patienceMs;
  }

  describePatience(): string {
    return `${Math.round(this.#patienceMs / 1_000)} s`;
  }
}
