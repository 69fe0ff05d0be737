import * as z from "zod";
import { isOpen } from "../../coordinator/jobs.ts";
import type { CancelResult } from "../../coordinator/ingest-runs.ts";
import { RUN_OUTCOMES } from "../../schemas/run-report.ts";
import {
  RUN_STATES,
  RUN_TRIGGERS,
  runDetailsSchema,
  runSchema,
  toListed,
} from "../../schemas/run.ts";
import type { History } from "../../storage/run-history.ts";
import { orUnavailable, soonOrNull } from "../calls.ts";
import { findRun, listRuns, runId } from "./find-runs.ts";
import {
  BAD_CURSOR,
  noteField,
  outcome,
  pageFields,
  pageQuery,
  restOf,
  time,
} from "../http/query.ts";
import type { Problem } from "../http/http.ts";
import { route } from "../http/route.ts";
import type { AdminPlatform } from "../admin-platform.ts";

const runParams = z.object({ id: runId });

const runsQuery = z.strictObject({
  state: z.enum(RUN_STATES).optional(),
  outcome: z.enum(RUN_OUTCOMES).optional(),
  trigger: z.enum(RUN_TRIGGERS).optional(),
  since: time().optional().meta({ description: "Queued at this time or later." }),
  until: time().optional().meta({ description: "Queued before this time." }),
  ...pageQuery,
});

const runPage = z.strictObject({
  runs: z.array(runSchema).meta({ description: "Newest first." }),
  ...pageFields,
  paused: z.boolean().nullable().meta({
    description:
      "Null while the coordinator does not answer: the newest runs may then be missing, or be shown as they were.",
  }),
});

const cancelAnswer = z.strictObject({ ...outcome, run: runSchema });

export function runRoutes({ coordinator, history, now }: AdminPlatform) {
  const list = route({
    method: "get",
    path: "/admin/ingest/runs",
    operationId: "listRuns",
    summary: "List ingestion run history",
    description:
      "Newest first, including runs that wait or are in progress. The changes of a run are on its own page.",
    access: "read",
    query: runsQuery,
    responses: { 200: { description: "A page of runs", body: runPage } },
    problems: { 503: "`history_unavailable`: D1 does not answer" },
  }).answer(async ({ query }) => {
    const { since: sinceMs, until: untilMs, ...others } = query;
    const [unwritten, status] = await Promise.all([
      soonOrNull(coordinator.unwrittenRuns()),
      soonOrNull(coordinator.status()),
    ]);
    const wanted = { ...others, sinceMs, untilMs };
    const page = await orUnavailable("history", listRuns(history, wanted, unwritten ?? []));
    if (!page.ok) return BAD_CURSOR;
    const paused = unwritten === null || status === null ? null : status.pause !== null;
    return { status: 200, body: { runs: page.runs, ...restOf(page), paused } };
  });

  const detail = route({
    method: "get",
    path: "/admin/ingest/runs/:id",
    operationId: "getRun",
    summary: "One ingestion run, as it is now",
    description:
      "What it fetched, what the guards said, what it rejected, and the first entities that it changes.",
    access: "read",
    params: runParams,
    responses: { 200: { description: "The run", body: runDetailsSchema } },
    problems: {
      404: "`run_not_found`",
      503: "`history_unavailable`: D1 does not answer",
    },
  }).answer(async ({ params: { id } }) => {
    const run = await findRun({ coordinator, history }, id);
    return run === null ? { problem: REFUSALS.not_found } : { status: 200, body: run };
  });

  const cancel = route({
    method: "post",
    path: "/admin/ingest/runs/:id/cancel",
    operationId: "cancelRun",
    summary: "Cancel an ingestion run",
    description:
      "Cancels a waiting run at once, and a run in progress at its next step before it publishes, in ten minutes at the latest. Repeated, it changes nothing.",
    access: "operate",
    action: "ingest.cancel",
    params: runParams,
    body: z.strictObject({ note: noteField }),
    responses: { 200: { description: "The run after the call", body: cancelAnswer } },
    problems: {
      404: "`run_not_found`",
      409: "`run_ended` or `run_published`: it is too late; `run_lost`: only its row in D1 is left",
      503: "`history_unavailable`: D1 does not answer about a run that ended long ago",
    },
  }).answer(async ({ params: { id }, body: { note: why = null }, actor }) => {
    const cancelled = await coordinator.cancel(id, { by: actor.id, note: why }, now());
    const isForgotten = !cancelled.ok && cancelled.reason === "not_found";
    const result = isForgotten
      ? await orUnavailable("history", cancelledBefore(history, id))
      : cancelled;
    if (!result.ok) return { problem: REFUSALS[result.reason] };
    const { changed, before, run } = result;
    return {
      status: 200,
      body: { changed, run: toListed(run), message: cancelMessage(result) },
      change: { target: id, before: { state: before }, after: { state: run.state, changed } },
    };
  });

  return [list, detail, cancel];
}

/** Answers the cancellation of a run that the coordinator does not know: it has ended, or is lost. */
async function cancelledBefore(history: Pick<History, "findRun">, id: string) {
  const run = await history.findRun(id);
  if (run === null) return { ok: false, reason: "not_found" } as const;
  if (run.state === "cancelled")
    return { ok: true, changed: false, before: run.state, run } as const;
  return { ok: false, reason: isOpen(run.state) ? "lost" : "ended" } as const;
}

function cancelMessage({ changed, run: { state } }: Extract<CancelResult, { ok: true }>): string {
  const what = changed ? "is cancelled" : "was cancelled before";
  const when =
    state === "running"
      ? ", and stops at the end of its present step, in ten minutes at the latest"
      : "";
  return `The run ${what}${when}.${changed ? "" : " Nothing changed."}`;
}

const REFUSALS = {
  not_found: { status: 404, code: "run_not_found", detail: "There is no run with this id." },
  ended: { status: 409, code: "run_ended", detail: "The run has ended already." },
  lost: {
    status: 409,
    code: "run_lost",
    detail:
      "The coordinator does not know this run: nothing runs. Its row ends within five minutes.",
  },
  too_late: {
    status: 409,
    code: "run_published",
    detail:
      "The run has published already. To take that back, roll back: POST /admin/catalog/rollback.",
  },
} as const satisfies { readonly [reason: string]: Problem };
