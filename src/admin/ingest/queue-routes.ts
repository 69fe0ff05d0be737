import * as z from "zod";
import { RUN_MODES, SOURCE_NAMES } from "../../schemas/run-words.ts";
import type { ArchivedCandidate } from "../../ingest/step.ts";
import { type EnqueueResult, queueAnswer, queuedRun } from "../../coordinator/run-queue.ts";
import { FORCE_EFFECT } from "../../schemas/overridable.ts";
import { runSchema } from "../../schemas/run.ts";
import { day, noteField } from "../http/query.ts";
import { type Refusal, route } from "../http/route.ts";
import type { AdminPlatform } from "../admin-platform.ts";
import { findRun, OF_RUN, runId, runPath } from "./find-runs.ts";
import { pauseFields } from "./pause-routes.ts";

const queueBody = z
  .strictObject({
    source: z.enum(SOURCE_NAMES).optional(),
    mode: z.enum(RUN_MODES).default("incremental").meta({
      description:
        "`full`: fetch and store everything again; `dry_run`: publish nothing, only show the guards' verdict and the changes.",
    }),
    force: z.boolean().default(false).meta({ description: FORCE_EFFECT }),
    as_of: day().optional().meta({
      description:
        "Date of the dropped files, only for the source `dropped`. Without it, each file's own metadata `as_of` counts; without that the date is unknown.",
    }),
    candidate_of: runId.optional().meta({
      description:
        "Work from the exact upstream bytes that this run has archived, instead of asking upstream, also in mode full. The source is that run's.",
    }),
    note: noteField,
    if_paused: z.enum(["queue", "reject"]).default("queue"),
  })
  .refine(
    ({ as_of, source, candidate_of }) =>
      as_of === undefined || (source === "dropped" && candidate_of === undefined),
    { path: ["as_of"], message: "only new files of the source dropped need a date" },
  );

const queueState = z
  .strictObject({
    paused: z.boolean(),
    running: runSchema.nullable().meta({ description: "The run in progress." }),
    queued: z.array(queuedRun).meta({ description: "In starting order, ten at most." }),
  })
  .meta({ id: "Queue", description: "The run in progress, and the waiting ones." });

export function queueRoutes(platform: AdminPlatform) {
  const { coordinator } = platform;

  const show = route({
    method: "get",
    path: "/admin/ingest/queue",
    operationId: "getQueue",
    summary: "The run in progress, and when each waiting one starts",
    description:
      "`will_start` says for what each waiting run waits: the run before it, the end of a pause, a time.",
    access: "read",
    responses: { 200: { description: "The present state", body: queueState } },
  }).answer(async () => {
    const [{ pause: flag, running }, queued] = await Promise.all([
      coordinator.status(),
      coordinator.queue(),
    ]);
    return {
      status: 200,
      body: {
        paused: flag !== null,
        running,
        queued,
      },
    };
  });

  const queue = route({
    method: "post",
    path: "/admin/ingest/queue",
    operationId: "queueRun",
    summary: "Queue an ingestion",
    description:
      "To approve what guards refused, send `candidate_of` with the id of the refused run, and `force`. Without `force` the same bytes are tried again.",
    access: "operate",
    action: "ingest.queue",
    startsWork: true,
    body: queueBody,
    responses: {
      200: { description: "The same run was queued before", headers: OF_RUN, body: queueAnswer },
      202: { description: "The run is queued", headers: OF_RUN, body: queueAnswer },
    },
    problems: {
      404: "`run_not_found`: there is no run `candidate_of`",
      409: '`paused`: ingestion is paused, and the request said `"if_paused": "reject"`; `nothing_fetched`: the run `candidate_of` has archived nothing; `candidate_gone`: what it has archived is deleted',
      429: "`queue_full`: ten runs wait already; see Retry-After",
      503: "`history_unavailable`: D1 does not answer, and nobody else knows of the run `candidate_of`; `archive_unavailable`: R2 does not answer about its files",
    },
  }).answer(async ({ body, actor, idempotencyKey }) => {
    const { mode, force, note = null, if_paused, as_of } = body;
    const found = await findCandidate(platform, body);
    if ("problem" in found) return found;
    const result = await coordinator.enqueue({
      trigger: "manual",
      mode,
      ...found,
      ...(as_of !== undefined && { as_of }),
      forced: force,
      requested_by: actor.id,
      note,
      ifPaused: if_paused,
      idempotencyKey,
    });
    if (!result.ok) return refuseQueue(result);
    const { answer } = result;
    const { changed, queue_depth, run, will_start } = answer;
    return {
      status: changed ? 202 : 200,
      body: answer,
      headers: { location: runPath(run) },
      change: {
        target: run.id,
        after: { changed, will_start, queue_depth, candidate_of: run.candidate_of },
      },
    };
  });

  return [show, queue];
}

interface FoundCandidate {
  readonly candidate: ArchivedCandidate | null;
  readonly source: string | null;
}

/**
 * Finds the archived upstream files of a run, so that a new run can work from them; none if no run is
 * named. Refuses a run that does not exist, fetched nothing, or had another source.
 */
async function findCandidate(
  platform: AdminPlatform,
  { candidate_of: id, source: wanted }: Pick<z.output<typeof queueBody>, "candidate_of" | "source">,
): Promise<FoundCandidate | Refusal> {
  if (id === undefined) return { candidate: null, source: wanted ?? null };
  const run = await findRun(platform, id);
  if (run === null) {
    const detail = "candidate_of: there is no run with this id.";
    return { problem: { status: 404, code: "run_not_found", detail } };
  }
  const { source, upstream } = run;
  if (wanted !== undefined && wanted !== source) {
    const detail = `source: run ${id} is of "${source}"; leave it out, or name the same`;
    return { problem: { status: 400, code: "invalid_body", detail } };
  }
  if (Object.keys(upstream).length === 0) {
    const detail = `Run ${id} fetched nothing that another run could work from.`;
    return { problem: { status: 409, code: "nothing_fetched", detail } };
  }
  return { candidate: { runId: id, upstream }, source };
}

const QUEUE_RETRY_SECONDS = 60;

function refuseQueue(result: Extract<EnqueueResult, { ok: false }>): Refusal {
  if (result.reason === "paused") {
    const detail = 'Ingestion is paused. Resume it, or send "if_paused": "queue".';
    return {
      problem: { status: 409, code: "paused", detail },
      change: { before: pauseFields(result.pause) },
    };
  }
  if (result.reason === "candidate_gone") {
    const detail =
      "The files of the run candidate_of are no longer archived. Queue a run without it, which fetches from upstream.";
    return { problem: { status: 409, code: "candidate_gone", detail } };
  }
  const detail = `${result.queue_depth} runs wait already. Try again later, or cancel one.`;
  return {
    problem: { status: 429, code: "queue_full", detail },
    headers: { "retry-after": String(QUEUE_RETRY_SECONDS) },
  };
}
