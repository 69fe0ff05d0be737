/** Decides on requests for ingest runs, and says when each one starts. Pure: times are arguments. */
import * as z from "zod";
import { count, type DeepReadonly } from "../schemas/fields.ts";
import type { Pause } from "../schemas/pause.ts";
import { inStartingOrder, type JobRecord, type Queue, stepTime } from "./jobs.ts";
import { type EnqueueRequest, isEquivalent, isRun, type RunRecord } from "./run-record.ts";
import { timeText } from "../platform/time.ts";
import type { EpochMs } from "../platform/units.ts";
import { runSchema, type SkipReason, toListed } from "../schemas/run.ts";

/** Maximum number of waiting runs, apart from a retry. */
export const QUEUE_MAX_DEPTH = 10;

/** A waiting run, as the API answers it. */
export const queuedRun = z
  .strictObject({
    will_start: z
      .union([
        z.enum(["now", "on_resume", "begun"]),
        z.templateLiteral(["after_job:", z.string()]),
        z.templateLiteral(["after_run:", z.string()]),
        z.templateLiteral(["at:", z.string()]),
      ])
      .meta({ description: "`after_…:` names a job or run, `at:` a time." }),
    queue_position: z.int().min(0).meta({
      description:
        "1 for the next run; 0 for one that has started, as a repeated request may find it.",
    }),
    run: runSchema,
    message: z.string().meta({ description: "For people." }),
  })
  .meta({ id: "QueuedRun", description: "A waiting run, and when it starts." });

export const queueAnswer = queuedRun
  .extend({
    changed: z.boolean().meta({
      description: "False for the run of an earlier request: the same one, or one that waits.",
    }),
    queue_depth: count,
    paused: z.boolean(),
  })
  .meta({ id: "QueueAnswer", description: "The queued run, and when it starts." });

export type QueuedRun = DeepReadonly<z.output<typeof queuedRun>>;
export type QueueAnswer = DeepReadonly<z.output<typeof queueAnswer>>;

export type EnqueueResult =
  | { readonly ok: true; readonly answer: QueueAnswer }
  | { readonly ok: false; readonly reason: "paused"; readonly pause: Pause }
  | { readonly ok: false; readonly reason: "candidate_gone" }
  | { readonly ok: false; readonly reason: "queue_full"; readonly queue_depth: number };

/** The time of a request, and its fields besides the run. */
interface Enqueuing extends Pick<EnqueueRequest, "ifPaused"> {
  /** The run of the repeated request. */
  readonly earlier: RunRecord | undefined;
  readonly now: EpochMs;
}

/**
 * Decides on a request. The answer to a repeated one is the earlier run. If an equivalent run is
 * waiting, a request without a key shares it, unless that is a retry that is not due yet: a new run
 * starts before it.
 */
export function decideEnqueue(
  wanted: RunRecord,
  queue: Queue,
  { ifPaused, earlier, now }: Enqueuing,
): { readonly result: EnqueueResult; readonly add: RunRecord | null } {
  const waiting = queue.waiting.filter(isRun);
  if (earlier === undefined && queue.pause !== null && ifPaused === "reject")
    return { result: { ok: false, reason: "paused", pause: queue.pause }, add: null };
  const isSame = (record: RunRecord) =>
    isEquivalent(record.job, wanted.job) && stepTime(record, now) <= now;
  const shared = wanted.key === null ? waiting.find(isSame) : undefined;
  const found = earlier ?? shared;
  if (found !== undefined)
    return {
      result: { ok: true, answer: answerFor(found, queue, { now, changed: false }) },
      add: null,
    };
  if (waiting.length >= QUEUE_MAX_DEPTH)
    return { result: { ok: false, reason: "queue_full", queue_depth: waiting.length }, add: null };
  const withWanted = { ...queue, waiting: inStartingOrder([...queue.waiting, wanted]) };
  const answer = answerFor(wanted, withWanted, { now, changed: true });
  return { result: { ok: true, answer }, add: wanted };
}

function answerFor(
  record: RunRecord,
  queue: Queue,
  { now, changed }: { readonly now: EpochMs; readonly changed: boolean },
): QueueAnswer {
  const { message, ...queued } = describeQueued(record, queue, now);
  return {
    ...queued,
    changed,
    queue_depth: queue.waiting.filter(isRun).length,
    paused: queue.pause !== null,
    message: `${changed ? "The run is queued." : "The same run was queued before."} ${message}`,
  };
}

/** Describes when each waiting run starts, in that order. */
export function describeQueue(queue: Queue, now: EpochMs): QueuedRun[] {
  return queue.waiting.filter(isRun).map((record) => describeQueued(record, queue, now));
}

function describeQueued(
  record: RunRecord,
  { running, waiting, pause }: Queue,
  now: EpochMs,
): QueuedRun {
  const run = toListed(record.job);
  const index = waiting.findIndex(({ job }) => job.id === run.id);
  if (index === -1)
    return { will_start: "begun", queue_position: 0, run, message: `Its state is ${run.state}.` };
  const paused = pause !== null;
  // An unlisted job takes only a moment.
  const before = [...running.toReversed(), ...waiting.slice(0, index)];
  const previous = before.at(-1);
  const willPause = before.some(({ leavesPause }) => leavesPause);
  const start = startOf(previous, { now, paused, willPause, notBefore: stepTime(record, now) });
  return { ...start, queue_position: waiting.slice(0, index).filter(isRun).length + 1, run };
}

interface Obstacles {
  readonly now: EpochMs;
  readonly paused: boolean;
  /** Whether an earlier job leaves ingestion paused. */
  readonly willPause: boolean;
  readonly notBefore: EpochMs;
}

function startOf(
  previous: JobRecord | undefined,
  { now, paused, willPause, notBefore }: Obstacles,
): Pick<QueuedRun, "will_start" | "message"> {
  if (paused)
    return {
      will_start: "on_resume",
      message: "Ingestion is paused; the run starts when the pause ends.",
    };
  if (previous !== undefined) {
    const time = notBefore > now ? `, but not before ${timeText(notBefore)}` : "";
    const kind = isRun(previous) ? "run" : "job";
    return {
      will_start: `after_${kind}:${previous.job.id}`,
      message: `It starts after ${kind} ${previous.job.id}${time}.${willPause ? RESTORE_PAUSES : ""}`,
    };
  }
  if (notBefore > now) {
    const at = timeText(notBefore);
    return { will_start: `at:${at}`, message: `It is a retry, which starts at ${at}.` };
  }
  return { will_start: "now", message: "It starts now." };
}

const RESTORE_PAUSES = " A restore before it pauses ingestion, so that it also waits for resume.";

/** Returns the reason to skip a cron tick, or null to take it. */
export function decideTick(wanted: RunRecord, { waiting, pause }: Queue): SkipReason | null {
  if (pause !== null) return "paused";
  const runs = waiting.filter(isRun);
  if (runs.some(({ job }) => isEquivalent(job, wanted.job))) return "already_queued";
  return runs.length >= QUEUE_MAX_DEPTH ? "queue_full" : null;
}
