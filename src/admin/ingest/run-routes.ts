import { z } from "zod";
import type { CancelResult } from "../../coordinator/scheduler.ts";
import { RUN_OUTCOMES, RUN_STATES, RUN_TRIGGERS, toListed } from "../../ingest/run.ts";
import type { History } from "../../ingest/history.ts";
import type { CoordinatorUseCases } from "../calls/coordinator.ts";
import { orNull, soon } from "../calls/coordinator-calls.ts";
import { findRun, runId } from "./find-run.ts";
import { BAD_CURSOR, pageQuery, time } from "../http/query.ts";
import { type Refusal, route } from "../http/route.ts";
import { listRuns } from "./run-list.ts";
import { runDetailsSchema, runSchema } from "../../ingest/run.ts";
import { askHistory } from "../calls/store-calls.ts";

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
  next_cursor: z.string().nullable(),
  total: z.int().min(0).meta({ description: "Runs that match, on all pages." }),
  paused: z.boolean().nullable().meta({
    description:
      "Null while the coordinator does not answer: the newest runs may then be missing, or be shown as they were.",
  }),
});

const cancelAnswer = z.strictObject({
  disposition: z.enum(["cancelled", "cancelling"]),
  run: runSchema,
  message: z.string(),
});

/** The run history, one run, and cancelling it. */
export function runRoutes(ingest: CoordinatorUseCases, history: History) {
  const list = route({
    method: "get",
    path: "/admin/ingest/runs",
    summary: "List ingestion run history",
    access: "read",
    query: runsQuery,
    responses: { 200: { description: "A page of runs", body: runPage } },
    problems: { 503: "`history_unavailable`: D1 does not answer" },
  }).answer(async ({ query }) => {
    const { since: sinceMs, until: untilMs, ...others } = query;
    const [unsettled, status] = await Promise.all([
      orNull(soon(ingest.unsettledRuns())),
      orNull(soon(ingest.status())),
    ]);
    const wanted = { ...others, sinceMs, untilMs };
    const page = await askHistory(listRuns(history, wanted, unsettled ?? []));
    if (!page.ok) return BAD_CURSOR;
    const { runs, nextCursor, total } = page;
    const paused = unsettled === null || status === null ? null : status.pause !== null;
    return { status: 200, body: { runs, next_cursor: nextCursor, total, paused } };
  });

  const detail = route({
    method: "get",
    path: "/admin/ingest/runs/:id",
    summary: "One ingestion run, as it is now",
    access: "read",
    params: runParams,
    responses: { 200: { description: "The run", body: runDetailsSchema } },
    problems: {
      404: "`run_not_found`",
      503: "`history_unavailable`: D1 does not answer",
    },
  }).answer(async ({ params: { id } }) => {
    const run = await findRun({ ingest, history }, id);
    return run === null ? refuseCancel("not_found", id) : { status: 200, body: run };
  });

  const cancel = route({
    method: "post",
    path: "/admin/ingest/runs/:id/cancel",
    summary: "Cancel an ingestion run",
    description:
      "A waiting run at once, a run under way at its next step before it publishes. Repeated, it changes nothing.",
    access: "operate",
    action: "ingest.cancel",
    params: runParams,
    responses: { 200: { description: "The run after the call", body: cancelAnswer } },
    problems: {
      404: "`run_not_found`",
      409: "`run_ended` or `run_published`: it is too late",
    },
  }).answer(async ({ params: { id }, actor }) => {
    const result = await ingest.cancel(id, actor.id);
    if (!result.ok) return refuseCancel(result.reason, id);
    const { disposition, run } = result;
    const message =
      result.before === "cancelled"
        ? "The run was cancelled before: nothing changed."
        : MESSAGES[disposition];
    const after = { state: run.state, disposition };
    return {
      status: 200,
      body: { disposition, run: toListed(run), message },
      change: { target: id, before: { state: result.before }, after },
    };
  });

  return [list, detail, cancel];
}

const MESSAGES = {
  cancelled: "The run is cancelled.",
  cancelling: "The run is under way; it is cancelled at the end of its present step.",
} as const;

function refuseCancel(
  reason: Extract<CancelResult, { ok: false }>["reason"],
  target: string,
): Refusal {
  const change = { target };
  switch (reason) {
    case "not_found": {
      const detail = "There is no run with this id.";
      return { problem: { status: 404, code: "run_not_found", detail }, change };
    }
    case "ended": {
      const detail = "The run has ended already.";
      return { problem: { status: 409, code: "run_ended", detail }, change };
    }
    case "too_late": {
      const detail =
        "The run has published already. To take that back, roll back: POST /admin/catalog/rollback.";
      return { problem: { status: 409, code: "run_published", detail }, change };
    }
    default:
      return reason satisfies never;
  }
}
