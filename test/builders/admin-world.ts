import type { AccessResult } from "../../src/admin/auth/access-jwt.ts";
import { createAdminApp } from "../../src/admin/app.ts";
import type { BackupJobCalls } from "../../src/admin/calls/backup-use-cases.ts";
import type { JobResult } from "../../src/backup/backup-jobs.ts";
import type { BackupJob as Job } from "../../src/backup/job.ts";
import type { RemoveResult } from "../../src/backup/remove-backup.ts";
import type { AlertUseCases } from "../../src/admin/calls/alert-calls.ts";
import type { CoordinatorUseCases } from "../../src/admin/calls/coordinator.ts";
import { CoordinatorUnavailable } from "../../src/admin/calls/coordinator-calls.ts";
import type { CredentialsResult } from "../../src/admin/auth/credentials.ts";
import { type LimitSettings, readLimits } from "../../src/health/limits.ts";
import type { CoordinatorStatus } from "../../src/coordinator/status.ts";
import { decidePause, type Pause } from "../../src/jobs/pause.ts";
import type { EnqueueAnswer, EnqueueRequest, EnqueueResult } from "../../src/ingest/queue.ts";
import { type Run, toListed } from "../../src/ingest/run.ts";
import type { Version } from "../../src/ingest/versions.ts";
import type { AlertHistory } from "../../src/storage/alert-history.ts";
import type { AuditEntry } from "../../src/storage/audit-store.ts";
import type {
  CatalogReader,
  CurrentResult,
  OpenResult,
  Selection,
} from "../../src/storage/catalog-reader.ts";
import type { EdgeCache } from "../../src/storage/edge-cache.ts";
import type { StoreProbes } from "../../src/storage/probes.ts";
import { digest, OPERATOR_TOKEN, READER_TOKEN } from "./admin-tokens.ts";
import { aJob } from "./job.ts";
import { MemoryBackupStore } from "./memory-backup-store.ts";
import { FakeAlerts } from "./fake-alerts.ts";
import { MemoryCatalogStore } from "./memory-catalog-store.ts";
import { MemoryRunHistory } from "./memory-run-history.ts";
import { checkAnswer, type OpenApi } from "./openapi-check.ts";
import { aRunRecord } from "./run.ts";

let document: Promise<OpenApi> | undefined;

/** Any answer's JSON. */
export type Json = { readonly [name: string]: unknown };

/**
 * The admin app around a coordinator that only records, and stores that answer as they are told.
 * Every answer is checked against the OpenAPI document.
 */
export class AdminWorld {
  readonly enqueued: EnqueueRequest[] = [];
  readonly runs = new Map<string, Run>();
  /** Of `runs`, those that D1 may show otherwise. */
  readonly unsettled: Run[] = [];
  readonly history = new MemoryRunHistory();
  readonly audited: AuditEntry[] = [];
  versions: readonly Version[] = [];
  pause: Pause | null = null;
  running: Run | null = null;
  /** What cancelling that comes to, for a pause. */
  cancelling: "cancelled" | "cancelling" | "too_late" = "cancelling";
  disposition: EnqueueAnswer["disposition"] = "queued";
  /** What enqueueing answers, if it is refused. */
  refusal: Extract<EnqueueResult, { ok: false }> | null = null;
  readonly store = new MemoryCatalogStore();
  readonly backups = new MemoryBackupStore(() => this.time);
  /** Jobs about backups, the newest first. */
  jobs: readonly Job[] = [];
  /** What asking for a job comes to. */
  jobResult: JobResult = { ok: true, disposition: "started", job: aJob() };
  /** Backups that were to be deleted, and what that comes to. */
  readonly removed: string[] = [];
  removal: RemoveResult = { ok: true };
  /** The edge's cache. */
  readonly cached = new Map<string, string>();
  readonly cache: EdgeCache = {
    get: async (name) => this.cached.get(name),
    put: (name, text) => void this.cached.set(name, text),
  };
  /** Round trips to the stores, as the monitor makes them. */
  probes: StoreProbes = { kv: async () => null, d1: async () => null, r2: async () => null };
  /** The settings of what health is judged by. */
  limitSettings: LimitSettings = {};
  /** What the coordinator says of itself, besides the rest of this world. */
  status: Partial<CoordinatorStatus> = {};
  /** What the monitor of the alerts answers. */
  alerts: AlertUseCases = new FakeAlerts();
  /** What D1 has of the evaluations. */
  listAlertRuns: AlertHistory["listRuns"] = async () => ({
    ok: true,
    runs: [],
    nextCursor: null,
    total: 0,
  });
  /** Whether the coordinator answers. */
  isReachable = true;
  /** What a call to the coordinator waits for. */
  reach: () => Promise<void> = async () => {};
  current: CurrentResult = { ok: false, reason: "nothing_published" };
  credentials: CredentialsResult = {
    ok: true,
    credentials: {
      tokens: [
        {
          id: "ops",
          sha256: digest(OPERATOR_TOKEN),
          expiresAt: null,
          scopes: ["read", "operate"],
        },
        { id: "viewer", sha256: digest(READER_TOKEN), expiresAt: null, scopes: ["read"] },
      ],
      access: null,
    },
  };
  /** What the verification of a JWT of Cloudflare Access comes to. */
  access: AccessResult = { ok: false, reason: "refused" };
  /** What opening a body comes to. */
  open: (selection: Selection) => OpenResult = () => ({ ok: false, reason: "unavailable" });
  /** Clients as they were counted for a failure each. */
  readonly failures: string[] = [];
  /** Failures that the rate limit takes; null if it cannot be read. */
  failureLimit: number | null = 100;
  /** Milliseconds since 1970. */
  time = Date.parse("2026-11-01T05:00:00.000Z");

  /** Answers a request; `authorization` is that of an operator unless another is given. */
  async request(path: string, init: RequestInit = {}): Promise<Response> {
    const headers = new Headers(init.headers);
    if (!headers.has("authorization")) headers.set("authorization", `Bearer ${OPERATOR_TOKEN}`);
    return this.send(path, { ...init, headers });
  }

  /** Answers a request as it is. */
  async send(path: string, init: RequestInit = {}): Promise<Response> {
    const answer = await this.#app().request(path, init);
    await checkAnswer(await this.document(), { method: init.method ?? "GET", path }, answer);
    return answer;
  }

  /** Sends a JSON body, or none. */
  post(path: string, body?: unknown, headers: { readonly [name: string]: string } = {}) {
    return this.request(path, {
      method: "POST",
      headers: { "content-type": "application/json", ...headers },
      ...(body !== undefined && { body: typeof body === "string" ? body : JSON.stringify(body) }),
    });
  }

  /** The OpenAPI document, which is the same for every world. */
  async document(): Promise<OpenApi> {
    document ??= this.#readDocument();
    return document;
  }

  async #readDocument(): Promise<OpenApi> {
    const headers = { authorization: `Bearer ${OPERATOR_TOKEN}` };
    const answer = await this.#app({ trusted: true }).request("/admin/openapi.json", { headers });
    return answer.json();
  }

  #app({ trusted = false } = {}) {
    return createAdminApp({
      credentials: trusted ? new AdminWorld().credentials : this.credentials,
      verifyAccess: async () => this.access,
      mayFailAgain: async (client) => {
        if (this.failureLimit === null) throw new Error("no rate limit");
        this.failures.push(client);
        return this.failures.length <= this.failureLimit;
      },
      coordinator: this.#coordinator,
      history: this.history,
      backups: {
        jobs: this.#backupJobs,
        store: this.backups,
        staleAfterMs: readLimits(this.limitSettings).limits.backupStaleMs,
      },
      alerts: this.alerts,
      alertHistory: { listRuns: async (query) => this.listAlertRuns(query) },
      reader: this.#reader,
      defaultLocale: "en",
      limits: readLimits(this.limitSettings).limits,
      audit: {
        list: async ({ limit }) => {
          if (this.history.isDown) throw new Error("D1_ERROR");
          const entries = this.audited.toReversed().slice(0, limit);
          return { ok: true, entries, nextCursor: null, total: this.audited.length };
        },
      },
      diff: { store: this.store, cache: this.cache },
      probes: this.probes,
      crons: ["17 4 * * *"],
      recordChange: async (entry) => void this.audited.push(entry),
      now: () => this.time,
      waitUntil: () => {},
      notice: "Credits",
      version: "test",
    });
  }

  readonly #backupJobs: BackupJobCalls = {
    backUp: async () => this.#jobResult(),
    verifyBackup: async () => this.#jobResult(),
    restoreBackup: async () => this.#jobResult(),
    removeBackup: async (id) => {
      await this.#reach();
      this.removed.push(id);
      return this.removal;
    },
    findJob: async (id) => {
      await this.#reach();
      return this.jobs.find((job) => job.id === id) ?? null;
    },
    jobs: async () => {
      await this.#reach();
      return this.jobs;
    },
  };

  async #jobResult(): Promise<JobResult> {
    await this.#reach();
    return this.jobResult;
  }

  readonly #coordinator: CoordinatorUseCases = {
    enqueue: async (request) => {
      await this.#reach();
      this.enqueued.push(request);
      if (this.refusal !== null) return this.refusal;
      const { ifPaused: _, source, candidate, ...asked } = request;
      const candidate_of = candidate?.runId ?? null;
      const { job: run } = aRunRecord({ ...asked, source: source ?? "embedded", candidate_of });
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
    pause: async (request, cancelRunning) => {
      await this.#reach();
      const before = this.pause;
      this.pause = decidePause(before, request, this.#at()).pause;
      const { running, cancelling } = this;
      if (running === null || !cancelRunning) return this.#pauseAnswer(before);
      if (cancelling === "cancelled") this.running = null;
      const cancelled = { runId: running.id, disposition: cancelling };
      return { ...this.#pauseAnswer(before), cancelled };
    },
    resume: async () => {
      await this.#reach();
      const before = this.pause;
      this.pause = null;
      return this.#pauseAnswer(before);
    },
    cancel: async (id) => {
      await this.#reach();
      const run = this.runs.get(id);
      if (run === undefined) return { ok: false, reason: "not_found" };
      if (run.state === "queued") {
        const cancelled: Run = { ...run, state: "cancelled", finished_at: this.#at() };
        this.runs.set(id, cancelled);
        return { ok: true, disposition: "cancelled", before: "queued", run: cancelled };
      }
      if (run.state === "cancelled")
        return { ok: true, disposition: "cancelled", before: "cancelled", run };
      if (run.state !== "running") return { ok: false, reason: "ended" };
      if (run.stage === "verify") return { ok: false, reason: "too_late" };
      return { ok: true, disposition: "cancelling", before: "running", run };
    },
    rollback: async (generation) => {
      await this.#reach();
      const [current] = this.versions;
      const wanted = this.versions.find((version) => version.generation === generation);
      if (current === undefined || wanted === undefined)
        return { ok: false, reason: "not_retained" };
      const paused = this.pause !== null;
      if (wanted === current) return { ok: true, version: current, changed: false, paused };
      const version = { ...wanted, generation: current.generation + 1, is_current: true };
      this.versions = [version, ...this.versions.map((v) => ({ ...v, is_current: false }))];
      return { ok: true, version, changed: true, paused };
    },
    findRun: async (id) => {
      await this.#reach();
      return this.runs.get(id) ?? null;
    },
    unsettledRuns: async () => {
      await this.#reach();
      return this.unsettled.map(toListed);
    },
    versions: async () => {
      await this.#reach();
      return this.versions;
    },
    status: async () => {
      await this.#reach();
      return {
        pause: this.pause,
        running: this.running,
        stageSince: null,
        queued: [],
        nextDueAt: null,
        ended: [],
        current: this.versions[0] ?? null,
        replicated: true,
        outboxLength: 0,
        leaseUntil: null,
        lastTicks: {},
        bestCoverage: {},
        oldestPublishedAt: null,
        ...this.status,
      };
    },
  };

  readonly #reader: CatalogReader = {
    current: async () => this.current,
    open: async (selection) => this.open(selection),
  };

  #pauseAnswer(before: Pause | null) {
    const changed = before !== this.pause;
    return {
      pause: this.pause,
      before,
      changed,
      runningRunId: this.running?.id ?? null,
      queued: 0,
      cancelled: null,
    };
  }

  #at(): string {
    return new Date(this.time).toISOString();
  }

  async #reach(): Promise<void> {
    await this.reach();
    if (!this.isReachable) throw new CoordinatorUnavailable("the coordinator is away");
  }
}
