import { createAdminApp } from "../../src/admin/app.ts";
import type { IngestUseCases } from "../../src/admin/ingest-routes.ts";
import type { AdminToken } from "../../src/config.ts";
import type { EnqueueAnswer, EnqueueRequest, EnqueueResult } from "../../src/ingest/queue.ts";
import type { Run } from "../../src/ingest/run.ts";
import type { CatalogReader, CurrentResult } from "../../src/storage/catalog-reader.ts";
import { digest, OPERATOR_TOKEN } from "./admin-tokens.ts";
import { aRunRecord } from "./run.ts";

/** The admin app around a coordinator that only records, and a reader that answers as it is told. */
export class AdminWorld {
  readonly enqueued: EnqueueRequest[] = [];
  readonly runs = new Map<string, Run>();
  disposition: EnqueueAnswer["disposition"] = "queued";
  /** What enqueueing answers, if it is refused. */
  refusal: Extract<EnqueueResult, { ok: false }> | null = null;
  current: CurrentResult = { ok: false, reason: "nothing_published" };
  tokens: readonly AdminToken[] = [
    {
      id: "ops",
      sha256: digest(OPERATOR_TOKEN),
      expiresAt: null,
      scopes: ["read", "operate"],
    },
  ];
  /** Milliseconds since 1970. */
  time = Date.parse("2026-11-01T05:00:00.000Z");

  /** Answers a request; `authorization` is that of an operator unless another is given. */
  async request(path: string, init: RequestInit = {}): Promise<Response> {
    const app = createAdminApp({
      tokens: this.tokens,
      ingest: this.#ingest,
      reader: this.#reader,
      now: () => this.time,
    });
    const headers = new Headers(init.headers);
    if (!headers.has("authorization")) headers.set("authorization", `Bearer ${OPERATOR_TOKEN}`);
    return app.request(path, { ...init, headers });
  }

  readonly #ingest: IngestUseCases = {
    enqueue: async (request) => {
      this.enqueued.push(request);
      if (this.refusal !== null) return this.refusal;
      const { ifPaused: _, source, ...asked } = request;
      const { run } = aRunRecord({ ...asked, source: source ?? "embedded" });
      const { disposition } = this;
      return {
        ok: true,
        answer: {
          disposition,
          willStart: "now",
          queuePosition: 1,
          queueDepth: 1,
          paused: false,
          run,
          message: "The run is queued. It starts now.",
        },
      };
    },
    findRun: async (id) => this.runs.get(id) ?? null,
  };

  readonly #reader: CatalogReader = {
    current: async () => this.current,
    open: async () => ({ ok: false, reason: "unavailable" }),
  };
}
