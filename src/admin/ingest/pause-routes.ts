import { z } from "zod";
import { timestamp } from "../../catalog/fields.ts";
import type { PauseAnswer } from "../../coordinator/scheduler.ts";
import type { EnqueueRequest, EnqueueResult } from "../../ingest/queue.ts";
import { runSchema, toListed } from "../../ingest/run.ts";
import type { Pause } from "../../jobs/pause.ts";
import { timeText } from "../../storage/time-text.ts";
import type { CoordinatorUseCases } from "../calls/coordinator.ts";
import { instant } from "../http/instant.ts";
import { noteField, outcome } from "../http/query.ts";
import { type Refusal, route } from "../http/route.ts";
import { OF_RUN, runPath } from "./find-run.ts";

const pauseBody = z.strictObject({
  note: noteField,
  until: instant().nullable().optional().meta({
    description:
      "When the pause ends by itself; null for when it is resumed. Left out, it stays as it is.",
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
    paused_at: timestamp.nullable(),
    paused_by: z.string().nullable(),
    note: z.string().nullable(),
    until: timestamp.nullable().meta({ description: "Null if only an operator ends it." }),
  })
  .meta({ id: "Pause" });

const pauseAnswer = pauseState
  .extend({
    ...outcome,
    run: runSchema.nullable().meta({ description: "The run that the call cancelled or queued." }),
  })
  .meta({ id: "PauseAnswer" });

/** Shows, sets and lifts the pause. */
export function pauseRoutes(ingest: CoordinatorUseCases, now: () => number) {
  const show = route({
    method: "get",
    path: "/admin/ingest/pause",
    summary: "Whether ingestion is paused, since when, by whom and why",
    access: "read",
    responses: { 200: { description: "The present state", body: pauseState } },
  }).answer(async () => ({ status: 200, body: describePause((await ingest.status()).pause) }));

  const pause = route({
    method: "post",
    path: "/admin/ingest/pause",
    summary: "Pause ingestion",
    description:
      "Stops dispatch and publishing. The run under way stops at its next step and goes on after resume.",
    access: "operate",
    action: "ingest.pause",
    body: pauseBody,
    responses: { 200: { description: "The state after the call", body: pauseAnswer } },
  }).answer(async ({ body, actor }) => {
    const { until } = body;
    if (typeof until === "string" && Date.parse(until) <= now()) return PAST_UNTIL;
    const answer = await ingest.pause(
      {
        by: actor.id,
        note: body.note ?? null,
        ...(until !== undefined && { until: until && timeText(Date.parse(until)) }),
      },
      body.cancel_running,
    );
    const { cancelled, runningRunId } = answer;
    const done = cancelled?.ok ? cancelled : null;
    const isChanged = done?.changed ?? false;
    const run = done && toListed(done.run);
    return {
      status: 200,
      body: {
        ...describePause(answer.pause),
        changed: answer.changed || isChanged,
        run,
        message: pauseMessage(answer),
      },
      change: pauseChange(
        answer,
        cancelled && { run_id: run?.id ?? runningRunId, run_changed: isChanged },
      ),
    };
  });

  const resume = route({
    method: "post",
    path: "/admin/ingest/resume",
    summary: "Resume ingestion",
    description: "What waits continues; skipped cron ticks are not made up for.",
    access: "operate",
    action: "ingest.resume",
    body: resumeBody,
    responses: {
      200: {
        description: "The state after the call",
        headers: OF_RUN,
        body: pauseAnswer,
      },
    },
  }).answer(async ({ body, actor }) => {
    const answer = await ingest.resume();
    const queued = body.run_now ? await ingest.enqueue(runAfterResume(actor.id, body.note)) : null;
    const done = queued?.ok ? queued.answer : null;
    const isChanged = done?.changed ?? false;
    const run = done && toListed(done.run);
    return {
      status: 200,
      body: {
        ...describePause(answer.pause),
        changed: answer.changed || isChanged,
        run,
        message: resumeMessage(answer, queued),
      },
      change: pauseChange(answer, queued && { run_id: run?.id ?? null, run_changed: isChanged }),
      ...(run && { headers: { location: runPath(run) } }),
    };
  });

  return [show, pause, resume];
}

const PAST_UNTIL: Refusal = {
  problem: { status: 400, code: "invalid_body", detail: "until: must be in the future" },
};

function runAfterResume(requested_by: string, why: string | undefined): EnqueueRequest {
  return {
    trigger: "resume",
    mode: "incremental",
    source: null,
    candidate: null,
    forced: false,
    requested_by,
    note: why ?? null,
    ifPaused: "queue",
  };
}

/** A pause in the answers of the API. */
export function describePause(pause: Pause | null) {
  return {
    paused: pause !== null,
    paused_at: pause?.at ?? null,
    paused_by: pause?.by ?? null,
    note: pause?.note ?? null,
    until: pause?.until ?? null,
  };
}

/** What became of a run besides the flag, for the audit. */
type RunChange = { readonly run_id: string | null; readonly run_changed: boolean };

function pauseChange({ before, pause }: PauseAnswer, run: RunChange | null) {
  return { before: describePause(before), after: { ...describePause(pause), ...run } };
}

function pauseMessage({ pause, changed, runningRunId, cancelled }: PauseAnswer): string {
  const ends = pause?.until ? `, until ${pause.until}` : "";
  const flag = changed ? `Ingestion is paused${ends}.` : `Ingestion was paused already${ends}.`;
  if (cancelled?.ok === false)
    return `${flag} Run ${runningRunId} has published already, and ends.`;
  if (cancelled !== null) {
    const { id, state } = cancelled.run;
    const when = state === "running" ? " at its next step, unless it has published already" : "";
    return `${flag} Run ${id} is cancelled${when}.`;
  }
  if (runningRunId === null) return flag;
  return `${flag} Run ${runningRunId} stops at its next step and goes on after resume; if it has published already, it ends.`;
}

function resumeMessage(answer: PauseAnswer, queued: EnqueueResult | null): string {
  const flag = answer.changed ? "Ingestion has resumed." : "Ingestion was not paused.";
  if (queued === null) return flag;
  if (queued.ok) return `${flag} ${queued.answer.message}`;
  return `${flag} No run was queued: ${queued.reason.replaceAll("_", " ")}.`;
}
