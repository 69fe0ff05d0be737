import * as z from "zod";
import type { PauseAnswer } from "../../coordinator/ingest-runs.ts";
import { type EnqueueResult } from "../../coordinator/run-queue.ts";
import { plainRun } from "../../coordinator/run-record.ts";
import { type ListedRun, runSchema, toListed } from "../../schemas/run.ts";
import { EFFECTS } from "../../schemas/effects.ts";
import { type Pause, pauseSchema } from "../../schemas/pause.ts";
import { DAY_MS, timeText } from "../../platform/time.ts";
import { instant, noteField, outcome } from "../http/query.ts";
import { type Refusal, route } from "../http/route.ts";
import type { AdminPlatform } from "../admin-platform.ts";
import { OF_RUN, runPath } from "./find-runs.ts";

/** Longest pause with an end. */
const PAUSE_MAX_DAYS = 366;

const pauseBody = z.strictObject({
  note: noteField,
  until: instant()
    .nullable()
    .optional()
    .meta({
      description: `When the pause ends by itself, at most ${PAUSE_MAX_DAYS} days in the future; with null, it lasts until somebody resumes. If omitted, it stays as it is.`,
    }),
  cancel_running: z.boolean().default(false),
});

const resumeBody = z.strictObject({
  note: noteField,
  run_now: z.boolean().default(false).meta({ description: "Queue a run as well." }),
});

const pauseState = z
  .strictObject({
    paused: z.boolean(),
    paused_at: pauseSchema.shape.at.nullable(),
    paused_by: pauseSchema.shape.by.nullable(),
    note: pauseSchema.shape.note,
    until: pauseSchema.shape.until,
  })
  .meta({ id: "Pause", description: "Whether ingestion is paused." });

const pauseAnswer = pauseState
  .extend({
    ...outcome,
    run: runSchema.nullable().meta({ description: "The run that the call cancelled or queued." }),
  })
  .meta({ id: "PauseAnswer", description: "The pause after a call." });

export function pauseRoutes({ coordinator, now }: AdminPlatform) {
  const show = route({
    method: "get",
    path: "/admin/ingest/pause",
    operationId: "getPause",
    summary: "Whether ingestion is paused, since when, by whom and why",
    description: "A pause ends at `until`, or when somebody resumes ingestion.",
    access: "read",
    responses: { 200: { description: "The present state", body: pauseState } },
  }).answer(async () => ({ status: 200, body: pauseFields((await coordinator.status()).pause) }));

  const pause = route({
    method: "post",
    path: "/admin/ingest/pause",
    operationId: "pauseIngestion",
    summary: "Pause ingestion",
    description: EFFECTS.pause,
    access: "operate",
    action: "ingest.pause",
    body: pauseBody,
    responses: { 200: { description: "The state after the call", body: pauseAnswer } },
  }).answer(async ({ body, actor }) => {
    const { until } = body;
    const endsIn = typeof until === "string" ? Date.parse(until) - now() : null;
    if (endsIn !== null && endsIn <= 0) return PAST_UNTIL;
    if (endsIn !== null && endsIn > PAUSE_MAX_DAYS * DAY_MS) return FAR_UNTIL;
    const answer = await coordinator.pause(
      {
        by: actor.id,
        note: body.note ?? null,
        ...(until !== undefined && { until: until && timeText(Date.parse(until)) }),
      },
      body.cancel_running,
    );
    const { cancelled } = answer;
    const done = cancelled?.ok ? { ...cancelled, run: toListed(cancelled.run) } : null;
    return pauseAnswerOf(answer, pauseMessage(answer), done);
  });

  const resume = route({
    method: "post",
    path: "/admin/ingest/resume",
    operationId: "resumeIngestion",
    summary: "Resume ingestion",
    description: "Waiting runs continue; skipped cron ticks are not repeated.",
    access: "operate",
    action: "ingest.resume",
    startsWork: true,
    body: resumeBody,
    responses: {
      200: { description: "The state after the call", headers: OF_RUN, body: pauseAnswer },
    },
  }).answer(async ({ body, actor, idempotencyKey }) => {
    const answer = await coordinator.resume();
    const { note = null, run_now } = body;
    const run = plainRun({ trigger: "resume", requested_by: actor.id, note, idempotencyKey });
    const queued = run_now ? await coordinator.enqueue(run) : null;
    const done = queued?.ok ? queued.answer : null;
    const answered = pauseAnswerOf(answer, resumeMessage(answer, queued), done);
    return { ...answered, ...(done && { headers: { location: runPath(done.run) } }) };
  });

  return [show, pause, resume];
}

const PAST_UNTIL = refuseUntil("must be in the future");
const FAR_UNTIL = refuseUntil(
  `must be at most ${PAUSE_MAX_DAYS} days in the future; null for a pause without an end`,
);

function refuseUntil(problem: string): Refusal {
  return { problem: { status: 400, code: "invalid_body", detail: `until: ${problem}` } };
}

export function pauseFields(pause: Pause | null) {
  return {
    paused: pause !== null,
    paused_at: pause?.at ?? null,
    paused_by: pause?.by ?? null,
    note: pause?.note ?? null,
    until: pause?.until ?? null,
  };
}

/** @param done the result for the run that was to be cancelled or queued as well. */
function pauseAnswerOf(
  { before, pause, changed }: PauseAnswer,
  message: string,
  done: { readonly changed: boolean; readonly run: ListedRun } | null,
) {
  const ofRun = done && { run_id: done.run.id, run_changed: done.changed };
  return {
    status: 200,
    body: {
      ...pauseFields(pause),
      changed: changed || done?.changed === true,
      run: done?.run ?? null,
      message,
    },
    change: { before: pauseFields(before), after: { ...pauseFields(pause), ...ofRun } },
  } as const;
}

function pauseMessage({ before, pause, runningRunId, cancelled }: PauseAnswer): string {
  const ends = pause?.until ? `, until ${pause.until}` : "";
  const flag = `Ingestion ${before === null ? "is paused" : "was paused already"}${ends}.`;
  if (cancelled?.ok === true)
    return `${flag} Run ${cancelled.run.id} ends at its next step at the latest.`;
  if (runningRunId === null) return flag;
  if (cancelled !== null) return `${flag} Run ${runningRunId} has published already.`;
  return `${flag} Run ${runningRunId} stops at its next step and goes on after resume; if it has published already, it ends.`;
}

function resumeMessage(answer: PauseAnswer, queued: EnqueueResult | null): string {
  const flag = answer.changed ? "Ingestion has resumed." : "Ingestion was not paused.";
  if (queued === null) return flag;
  if (queued.ok) return `${flag} ${queued.answer.message}`;
  return `${flag} No run was queued: ${queued.reason.replaceAll("_", " ")}.`;
}
