import { type Context, Hono } from "hono";
import { z } from "zod";
import { SOURCE_NAMES } from "../config.ts";
import type { EnqueueRequest, EnqueueResult } from "../ingest/queue.ts";
import { type Run, RUN_MODES } from "../ingest/run.ts";
import { requireScope } from "./authentication.ts";
import { readBody } from "./body.ts";
import type { Http } from "./http.ts";
import { sendProblem } from "./problem.ts";
import { snakeKeys } from "./snake-keys.ts";

/** What the ingest routes need of the coordinator. */
export interface IngestUseCases {
  enqueue(request: EnqueueRequest): Promise<EnqueueResult>;
  findRun(id: string): Promise<Run | null>;
}

const queueBody = z.strictObject({
  source: z.enum(SOURCE_NAMES).optional(),
  mode: z.enum(RUN_MODES).default("incremental"),
  force: z.boolean().default(false),
  note: z.string().max(500).optional(),
  if_paused: z.enum(["queue", "reject"]).default("queue"),
});

const runId = z.uuidv7();

export function ingestRoutes(ingest: IngestUseCases): Hono<Http> {
  const app = new Hono<Http>();

  app.post("/queue", requireScope("operate"), async (c) => {
    const body = await readBody(c.req.raw, queueBody);
    if (!body.ok) return sendProblem(c, body.problem);
    const { mode, source = null, force, note = null, if_paused } = body.value;
    const result = await ingest.enqueue({
      trigger: "manual",
      mode,
      source,
      forced: force,
      requestedBy: c.get("actor").id,
      note,
      ifPaused: if_paused,
    });
    if (!result.ok) return refuse(c, result);
    const { answer } = result;
    c.header("location", `/admin/ingest/runs/${answer.run.id}`);
    return c.json(snakeKeys(answer), answer.disposition === "coalesced" ? 200 : 202);
  });

  app.get("/runs/:id", requireScope("read"), async (c) => {
    const id = runId.safeParse(c.req.param("id"));
    const run = id.success ? await ingest.findRun(id.data) : null;
    if (run !== null) return c.json(snakeKeys(run));
    const detail = "There is no run with this id.";
    return sendProblem(c, { status: 404, code: "run_not_found", detail });
  });

  return app;
}

/** After this time a full queue is worth another try. */
const QUEUE_RETRY_SECONDS = 60;

function refuse(c: Context<Http>, result: Extract<EnqueueResult, { ok: false }>): Response {
  if (result.reason === "paused") {
    const detail = 'Ingestion is paused. Resume it, or send "if_paused": "queue".';
    return sendProblem(c, { status: 409, code: "paused", detail });
  }
  c.header("retry-after", String(QUEUE_RETRY_SECONDS));
  if (result.reason === "restoring") {
    const detail =
      "A backup is being restored, which replaces the queue. Try again when it is done.";
    return sendProblem(c, { status: 409, code: "restoring", detail });
  }
  const detail = `${result.queueDepth} runs wait already. Try again later, or cancel one.`;
  return sendProblem(c, { status: 429, code: "queue_full", detail });
}
