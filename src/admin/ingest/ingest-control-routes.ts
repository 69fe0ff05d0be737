import { timeText } from "../../storage/time-text.ts";
import { z } from "zod";
import { SOURCE_NAMES } from "../../config.ts";
import type { PauseAnswer } from "../../coordinator/scheduler.ts";
import type { Pause } from "../../jobs/pause.ts";
import type { EnqueueAnswer, EnqueueRequest, EnqueueResult } from "../../ingest/queue.ts";
import { RUN_MODES, toListed } from "../../ingest/run.ts";
import type { History } from "../../ingest/history.ts";
import type { CoordinatorUseCases } from "../calls/coordinator.ts";
import { findCandidate } from "./find-candidate.ts";
import { runId } from "./find-run.ts";
import { instant } from "../http/instant.ts";
import { type Refusal, route } from "../http/route.ts";
import { timestamp } from "../../catalog/fields.ts";
import { runSchema } from "../../ingest/run.ts";

const reason = z.string().max(500);

const pauseBody = z.strictObject({
  reason: reason.optional(),
  until: instant().nullable().optional().meta({
    description:
      "When the pause ends by itself; null for when it is resumed. Left out, it stays as it is.",
  }),
  cancel_running: z.boolean().default(false),
});

const resumeBody = z.strictObject({
  reason: reason.optional().meta({ description: "Kept in the audit." }),
  run_now: z.boolean().default(false).meta({ description: "Queue a run as well." }),
});

const queueBody = z.strictObject({
  source: z.enum(SOURCE_NAMES).optional(),
  mode: z.enum(RUN_MODES).default("incremental").meta({
    description:
      "`full`: fetch and store everything again; `dry_run`: publish nothing, only show the guards' verdict and the changes.",
  }),
  force: z.boolean().default(false).meta({
    description: "Override the guards against shrinking, change and lost coverage.",
  }),
  candidate_of: runId.optional().meta({
    description:
      "Work from the exact upstream bytes that this run has archived, instead of asking upstream, also in mode full. The source is that run's.",
  }),
  note: z.string().max(500).optional(),
  if_paused: z.enum(["queue", "reject"]).default("queue"),
});

const pauseState = z
  .strictObject({
    paused: z.boolean(),
    changed: z.boolean(),
    paused_at: timestamp.nullable(),
    paused_by: z.string().nullable(),
    reason: z.string().nullable(),
    until: timestamp.nullable(),
    running_run_id: z.uuid().nullable(),
    queued: z.int().min(0).meta({ description: "Runs that wait." }),
    message: z.string(),
  })
  .meta({ id: "PauseState" });

const queueAnswer = z
  .strictObject({
    disposition: z.enum(["queued", "queued_behind_running", "queued_while_paused", "coalesced"]),
    will_start: z.union([
      z.enum(["now", "on_resume"]),
      z.templateLiteral(["after_job:", z.string()]),
      z.templateLiteral(["after_run:", z.string()]),
      z.templateLiteral(["at:", z.string()]),
    ]),
    queue_position: z.int().min(1),
    queue_depth: z.int().min(1),
    paused: z.boolean(),
    run: runSchema,
    message: z.string(),
  })
  .meta({ id: "QueueAnswer" });

/** Pausing, resuming, and queueing. `history` has the runs that the coordinator has forgotten. */
export function ingestControlRoutes(
  ingest: CoordinatorUseCases,
  history: Pick<History, "findRun">,
  now: () => number,
) {
  const pause = route({
    method: "post",
    path: "/admin/ingest/pause",
    summary: "Pause ingestion",
    description:
      "Stops dispatch and publishing. The run under way stops at its next step and goes on after resume.",
    access: "operate",
    action: "ingest.pause",
    body: pauseBody,
    responses: { 200: { description: "The state after the call", body: pauseState } },
  }).answer(async ({ body, actor }) => {
    const { until } = body;
    if (typeof until === "string" && Date.parse(until) <= now()) return PAST_UNTIL;
    const answer = await ingest.pause(
      {
        by: actor.id,
        reason: body.reason ?? null,
        ...(until !== undefined && { until: until && timeText(Date.parse(until)) }),
      },
      body.cancel_running,
    );
    return {
      status: 200,
      body: { ...describePause(answer), message: pauseMessage(answer) },
      change: pauseChange(answer, cancelledRun(answer)),
    };
  });

  const resume = route({
    method: "post",
    path: "/admin/ingest/resume",
    summary: "Resume ingestion",
    description: "What waits goes on; cron ticks that were skipped are not made up for.",
    access: "operate",
    action: "ingest.resume",
    body: resumeBody,
    responses: {
      200: {
        description: "The state after the call; Location names the run, if one was queued",
        body: pauseState,
      },
    },
  }).answer(async ({ body, actor }) => {
    const answer = await ingest.resume();
    const queued = body.run_now ? await ingest.enqueue(runAfterResume(actor.id)) : null;
    const status = queued?.ok ? { ...answer, queued: queued.answer.queueDepth } : answer;
    return {
      status: 200,
      body: { ...describePause(status), message: resumeMessage(answer, queued) },
      change: pauseChange(answer, queuedRun(queued)),
      ...(queued?.ok && { headers: { location: runPath(queued.answer) } }),
    };
  });

  const queue = route({
    method: "post",
    path: "/admin/ingest/queue",
    summary: "Queue an ingestion",
    description:
      "To approve what guards refused, send `candidate_of` with the id of the refused run, and `force`. Without `force` the same bytes are tried again.",
    access: "operate",
    action: "ingest.queue",
    body: queueBody,
    responses: {
      200: { description: "The same run is already queued; Location names it", body: queueAnswer },
      202: { description: "The run is queued; Location names it", body: queueAnswer },
    },
    problems: {
      404: "`run_not_found`: there is no run `candidate_of`",
      409: '`paused`: ingestion is paused, and the request said `"if_paused": "reject"`; `nothing_fetched`: the run `candidate_of` has archived nothing; `candidate_gone`: what it has archived is deleted',
      429: "`queue_full`: ten runs wait already; see Retry-After",
      503: "`history_unavailable`: D1 does not answer, and nobody else knows of the run `candidate_of`; `archive_unavailable`: R2 does not answer about its files",
    },
  }).answer(async ({ body, actor }) => {
    const { mode, source, force, candidate_of, note = null, if_paused } = body;
    const asked = { runId: candidate_of, source };
    const found = await findCandidate({ ingest, history }, asked);
    if ("problem" in found) return found;
    const result = await ingest.enqueue({
      trigger: "manual",
      mode,
      ...found,
      forced: force,
      requested_by: actor.id,
      note,
      ifPaused: if_paused,
    });
    if (!result.ok) return refuseQueue(result);
    const { answer } = result;
    const { disposition, willStart, queueDepth, run } = answer;
    return {
      status: disposition === "coalesced" ? 200 : 202,
      body: {
        disposition,
        will_start: willStart,
        queue_position: answer.queuePosition,
        queue_depth: queueDepth,
        paused: answer.paused,
        run: toListed(run),
        message: answer.message,
      },
      headers: { location: runPath(answer) },
      change: {
        target: run.id,
        after: {
          disposition,
          will_start: willStart,
          queue_depth: queueDepth,
          candidate_of: run.candidate_of,
        },
      },
    };
  });

  return [pause, resume, queue];
}

const PAST_UNTIL: Refusal = {
  problem: { status: 400, code: "invalid_body", detail: "until: must be in the future" },
};

/** After this time a full queue is worth another try. */
const QUEUE_RETRY_SECONDS = 60;

function refuseQueue(result: Extract<EnqueueResult, { ok: false }>): Refusal {
  if (result.reason === "paused") {
    const detail = 'Ingestion is paused. Resume it, or send "if_paused": "queue".';
    return {
      problem: { status: 409, code: "paused", detail },
      change: { before: describeFlag(result.pause) },
    };
  }
  if (result.reason === "candidate_gone") {
    const detail =
      "The files of the run candidate_of are no longer archived. Queue a run without it, which fetches from upstream.";
    return { problem: { status: 409, code: "candidate_gone", detail } };
  }
  const detail = `${result.queueDepth} runs wait already. Try again later, or cancel one.`;
  return {
    problem: { status: 429, code: "queue_full", detail },
    headers: { "retry-after": String(QUEUE_RETRY_SECONDS) },
  };
}

function runAfterResume(requested_by: string): EnqueueRequest {
  return {
    trigger: "resume",
    mode: "incremental",
    source: null,
    candidate: null,
    forced: false,
    requested_by,
    note: null,
    ifPaused: "queue",
  };
}

function runPath({ run }: EnqueueAnswer): string {
  return `/admin/ingest/runs/${run.id}`;
}

function describePause({ pause, changed, runningRunId, queued }: PauseAnswer) {
  return {
    paused: pause !== null,
    changed,
    paused_at: pause?.at ?? null,
    paused_by: pause?.by ?? null,
    reason: pause?.reason ?? null,
    until: pause?.until ?? null,
    running_run_id: runningRunId,
    queued,
  };
}

/** What became of a run besides the flag, for the audit. */
type RunChange = { readonly run_id: string | null; readonly disposition: string };

function pauseChange({ before, pause }: PauseAnswer, run: RunChange | null) {
  return { before: describeFlag(before), after: { ...describeFlag(pause), ...run } };
}

/** The run that a pause was to cancel as well, and what that came to. */
function cancelledRun({ cancelled }: PauseAnswer): RunChange | null {
  return cancelled && { run_id: cancelled.runId, disposition: cancelled.disposition };
}

/** The run that a resume queues, or why it did not. */
function queuedRun(queued: EnqueueResult | null): RunChange | null {
  if (queued === null) return null;
  if (!queued.ok) return { run_id: null, disposition: queued.reason };
  const { run, disposition } = queued.answer;
  return { run_id: run.id, disposition };
}

function describeFlag(pause: Pause | null) {
  return pause === null ? { paused: false } : { paused: true, ...pause };
}

function pauseMessage({ pause, changed, runningRunId, cancelled }: PauseAnswer): string {
  const ends = pause?.until ? `, until ${pause.until}` : "";
  const flag = changed ? `Ingestion is paused${ends}.` : `Ingestion was paused already${ends}.`;
  if (cancelled !== null) return `${flag} ${CANCELLED[cancelled.disposition](cancelled.runId)}`;
  if (runningRunId === null) return flag;
  return `${flag} Run ${runningRunId} stops at its next step and goes on after resume; if it has published already, it ends.`;
}

const CANCELLED = {
  cancelled: (id: string) => `Run ${id} is cancelled.`,
  cancelling: (id: string) =>
    `Run ${id} is cancelled at its next step, unless it has published already.`,
  too_late: (id: string) => `Run ${id} has published already, and ends.`,
};

function resumeMessage(answer: PauseAnswer, queued: EnqueueResult | null): string {
  const flag = answer.changed ? "Ingestion goes on." : "Ingestion was not paused.";
  if (queued === null) return flag;
  if (queued.ok) return `${flag} ${queued.answer.message}`;
  return `${flag} No run was queued: ${queued.reason.replaceAll("_", " ")}.`;
}
