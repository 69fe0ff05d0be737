import { setTimeout as sleep } from "node:timers/promises";
import { findRefusals, type GuardTrip } from "../src/ingest/guards.ts";
import type { AdminAnswer, AdminCall, Served } from "./service-call.ts";

/** The fields of a run that are shown here. */
interface Run {
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
  readonly guards: readonly GuardTrip[];
}

/** The result of an ingest. `problem` explains in a sentence or two why nothing new is published. */
export type IngestEnd =
  | { readonly ok: true; readonly generation: number; readonly isNew: boolean }
  | {
      readonly ok: false;
      readonly reason: "failed" | "paused" | "refused" | "stalled";
      readonly problem: string;
      /** Id of a run whose candidate `force` would publish. */
      readonly approvable?: string;
      /** Whether another run would fail in the same way until an operator takes over the stores. */
      readonly isForeign?: boolean;
    };

/** Whether an answer is final: it shows the result of an ingest, or a loss that the ingest has not fixed. */
export function shows(served: Served, end: IngestEnd): boolean {
  if (!end.ok) return true;
  return served.ok
    ? served.generation >= end.generation
    : served.code === "data_loss" && !end.isNew;
}

export interface IngestOptions {
  readonly call: AdminCall;
  readonly pollMs: number;
  /** Longest time without progress before the run is no longer followed. */
  readonly patienceMs: number;
  /** Throws if nothing runs that could answer. Its error ends the ingest. */
  readonly assertAlive?: () => void;
  /** Ends it with an error when it aborts. */
  readonly signal?: AbortSignal;
  /** Where progress is shown: on one line of a terminal, elsewhere in a line for each stage. */
  readonly out?: Pick<NodeJS.WriteStream, "write" | "isTTY">;
}

/**
 * Queues an ingest and shows its progress until it ends, until ingestion is paused, or until there was
 * no progress for too long. Repeats a failed call. If the same catalog is published already, the run
 * ends within seconds and changes nothing.
 */
export async function ingest(options: IngestOptions): Promise<IngestEnd> {
  const { call, pollMs, patienceMs, assertAlive, signal, out = process.stdout } = options;
  const startedAt = Date.now();
  const clear = out.isTTY ? "\r\x1b[2K" : "";
  let run: Run | undefined;
  let [stage, place, movedAt] = ["", "", startedAt];
  for (;;) {
    assertAlive?.();
    const answer = await askForRun(call, run?.id);
    if (answer.ok) run = runOf(answer);
    let end = answer.ok ? endOf(runOf(answer)) : refusalOf(answer);
    const [nextStage, nextPlace] = run === undefined ? ["", ""] : placeOf(run);
    if (end === undefined && nextPlace !== place) {
      if (out.isTTY) out.write(`${clear}${nextPlace} …`);
      else if (nextStage !== stage) out.write(`${nextStage} …\n`);
      [stage, place, movedAt] = [nextStage, nextPlace, Date.now()];
    } else if (end === undefined || !end.ok) {
      // A run in `verify` has published, and ends even during a pause.
      if (end?.reason !== "failed" && run?.stage !== "verify" && (await isPaused(call)))
        end = PAUSED;
      else if (Date.now() - movedAt > patienceMs) end ??= stalled(answer, options, place);
    }
    if (end !== undefined) {
      const seconds = ((Date.now() - startedAt) / 1000).toFixed(1);
      const outcome =
        end.ok && `Catalog ${end.isNew ? "published" : "unchanged"}. (${seconds} s)\n`;
      out.write(`${clear}${outcome || ""}`);
      return end;
    }
    await sleep(pollMs, undefined, { signal });
  }
}

const PAUSED: IngestEnd = {
  ok: false,
  reason: "paused",
  problem: "Ingestion is paused: nothing new is published.",
};

/** Queueing twice does no harm: the second call gets the waiting run. */
function askForRun(call: AdminCall, id: string | undefined): Promise<AdminAnswer> {
  return id === undefined
    ? call("POST", "/admin/ingest/queue")
    : call("GET", `/admin/ingest/runs/${id}`);
}

type Answered = Extract<AdminAnswer, { ok: true }>;
type Refused = Extract<AdminAnswer, { ok: false }>;

/** Both calls are of our own API. */
function runOf({ body }: Answered): Run {
  const answer = body as Run | { readonly run: Run };
  return "run" in answer ? answer.run : answer;
}

/** The stage of a run, and how far it is. */
function placeOf({ stage, progress: { done, total } }: Run): readonly [string, string] {
  const name = stage ?? "waiting";
  return [name, total === 0 ? name : `${name} ${done} of ${total}`];
}

/** Undefined if the same call may succeed later. */
function refusalOf({ status, code, problem }: Refused): IngestEnd | undefined {
  const mayPass = status === 0 || (status >= 500 && code !== "other_version");
  if (mayPass) return undefined;
  return { ok: false, reason: "refused", problem: `No ingest is queued: ${problem}` };
}

function endOf({ id, state, error, guards, ...run }: Run): IngestEnd | undefined {
  if (state === "queued" || state === "running") return undefined;
  if (state === "succeeded") {
    const generation = run.generation_after ?? run.generation_before ?? 0;
    return { ok: true, generation, isNew: run.outcome === "published" };
  }
  const { stage, code, message } = error ?? { stage: "?", code: "?", message: "?" };
  const isApprovable = stage === "guard" && findRefusals(guards, true).length === 0;
  return {
    ok: false,
    reason: "failed",
    problem: `The ingest ${state} in stage ${stage}: ${message} (${code})`,
    ...(isApprovable && { approvable: id }),
    ...(code === "foreign_stores" && { isForeign: true }),
  };
}

/** False if unknown. */
async function isPaused(call: AdminCall): Promise<boolean> {
  const answer = await call("GET", "/admin/ingest/pause");
  return answer.ok && (answer.body as { readonly paused: boolean }).paused; // our own API
}

function stalled(answer: AdminAnswer, { patienceMs }: IngestOptions, place: string): IngestEnd {
  const why = answer.ok ? `It stays at: ${place}.` : `${answer.problem}.`;
  const problem = `The ingest has not gone on for ${Math.round(patienceMs / 1_000)} s. ${why}`;
  return { ok: false, reason: "stalled", problem };
}
