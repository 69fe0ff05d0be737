import { Hono } from "hono";
import { z } from "zod";
import type { EnqueueAnswer, EnqueueRequest } from "../ingest/queue.ts";
import type { Run } from "../ingest/run.ts";
import { requireScope } from "./authentication.ts";
import { readBody } from "./body.ts";
import type { Http } from "./http.ts";
import { sendProblem } from "./problem.ts";
import { snakeKeys } from "./snake-keys.ts";

/** What the ingest routes need of the coordinator. */
export interface IngestUseCases {
  enqueue(request: EnqueueRequest): Promise<EnqueueAnswer>;
  findRun(id: string): Promise<Run | null>;
}

const queueBody = z.strictObject({
  mode: z.enum(["incremental", "full"]).default("incremental"),
  note: z.string().max(500).optional(),
});

const runId = z.uuidv7();

export function ingestRoutes(ingest: IngestUseCases): Hono<Http> {
  const app = new Hono<Http>();

  app.post("/queue", requireScope("operate"), async (c) => {
    const body = await readBody(c.req.raw, queueBody);
    if (!body.ok) return sendProblem(c, body.problem);
    const answer = await ingest.enqueue({
      trigger: "manual",
      mode: body.value.mode,
      requestedBy: c.get("actor").id,
      note: body.value.note ?? null,
    });
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
