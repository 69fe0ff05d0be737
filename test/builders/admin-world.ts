import { brotliDecompressSync } from "node:zlib";
import { createAdminApp } from "../../src/admin/app.ts";
import { createAuditTrail } from "../../src/admin/audit/audit-trail.ts";
import type { AccessResult } from "../../src/admin/auth/access-jwt.ts";
import type { CredentialsResult } from "../../src/platform/credentials.ts";
import {
  type CoordinatorCalls,
  coordinatorCalls,
  type MonitorCalls,
  monitorCalls,
} from "../../src/admin/calls.ts";
import { readLimits } from "../../src/monitor/alert-settings.ts";
import { newestTimes } from "../../src/backup/read-backups.ts";
import { scheduledJobs } from "../../src/coordinator/schedule.ts";
import { createHistory } from "../../src/storage/run-history.ts";
import type { Run } from "../../src/schemas/run.ts";
import { embeddedUpstream } from "../../src/sources/upstream.ts";
import { createAlertHistory } from "../../src/storage/alert-history.ts";
import type { AlertRun } from "../../src/schemas/alert-run.ts";
import { Suggester } from "../../src/search/suggester.ts";
import { type AuditEntry, createAuditStore } from "../../src/storage/audit-store.ts";
import { CachedCatalogReader } from "../../src/storage/cached-catalog-reader.ts";
import type { StoreProbes } from "../../src/admin/admin-platform.ts";
import { digest, OPERATOR_TOKEN, READER_TOKEN } from "./admin-tokens.ts";
import { BackupWorld } from "./backup-world.ts";
import type { CoordinatorWorld } from "./coordinator-world.ts";
import { NOW } from "./facts.ts";
import { MonitorWorld } from "./monitor-world.ts";
import { checkAnswer, OPENAPI } from "./openapi-check.ts";
import { WEBHOOK_SECRET } from "./webhook-receiver.ts";

/** Any answer's JSON. */
export type Json = { readonly [name: string]: unknown };

/**
 * The admin app of an installation in memory: a real coordinator, alert monitor, reader and history,
 * whose alarms fire only on request. Every answer is checked against the OpenAPI document.
 */
export class AdminWorld {
  readonly installation: BackupWorld;
  readonly monitor = new MonitorWorld();
  /** All entries of the audit trail, even those that D1 did not accept. */
  readonly audited: AuditEntry[] = [];
  /** The work that continues even if the client disconnects. */
  readonly awaited: Promise<unknown>[] = [];
  /** Its errors and delays are those of the called object, such as `coordinator pause` or `monitor status`. */
  before: (call: string) => void | Promise<void> = () => {};
  /** Reads the static assets, of which there are none. */
  readAsset = async (path: string): Promise<ArrayBuffer> => {
    throw new Error(`there is no ${path}`);
  };
  /** Round trips to the stores, as the monitor's status makes them. */
  probes: StoreProbes = { kv: async () => null, d1: async () => null, r2: async () => null };
  credentials: CredentialsResult = {
    problem: null,
    credentials: {
      tokens: [
        { id: "ops", sha256: digest(OPERATOR_TOKEN), scopes: ["read", "operate"], expiresAt: null },
        { id: "viewer", sha256: digest(READER_TOKEN), scopes: ["read"], expiresAt: null },
      ],
      access: null,
    },
  };
  /** The result of verifying a JWT of Cloudflare Access. */
  access: AccessResult = { ok: false, reason: "refused" };
  /** The client of each failed authentication. */
  readonly failures: string[] = [];
  /** Failures that the rate limit takes; null if it cannot be read. */
  failureLimit: number | null = 100;
  /** Answers all requests; without it, each request has a new isolate. */
  isolate: ReturnType<typeof this.newIsolate> | null = null;
  readonly #history;
  readonly #alertHistory;
  /** The evaluations that D1 has. */
  readonly #saved = new Set<AlertRun>();
  #seq = 0;

  constructor(installation = new BackupWorld(undefined, ["en"])) {
    this.installation = installation;
    this.ingest.time = NOW;
    this.#history = createHistory(this.d1.binding);
    this.#alertHistory = createAlertHistory(this.d1.binding);
  }

  /**
   * Remembers everything that is stored now, as the world of the ingest does, and what the monitor
   * knows. Both Durable Objects are new after a return.
   */
  remember(): () => void {
    const { monitor } = this;
    const goBack = this.installation.remember();
    const { database } = monitor.tables;
    database.exec("SAVEPOINT remembered");
    const rows = [...monitor.rows];
    const { settings, tokens, time, ingest, before } = monitor;
    return () => {
      goBack();
      database.exec("ROLLBACK TO remembered");
      monitor.rows.clear();
      for (const [id, run] of rows) monitor.rows.set(id, run);
      Object.assign(monitor, { settings, tokens, time, ingest, before });
      monitor.restart();
      this.isolate = this.newIsolate();
    };
  }

  /** Starts both Durable Objects and the isolate again over what they have stored. */
  restart(): void {
    this.installation.crash();
    this.monitor.restart();
    this.isolate = this.newIsolate();
  }

  get ingest(): CoordinatorWorld {
    return this.installation.ingest;
  }

  /** Another way into the catalog's replicas than that of the coordinator. */
  get store() {
    return this.ingest.store;
  }

  get backups() {
    return this.installation.bucket;
  }

  get d1() {
    return this.installation.d1;
  }

  /** Publishes, makes a backup that proves good, and evaluates the alerts. */
  async makeHealthy(): Promise<void> {
    this.ingest.upstream = embeddedUpstream(this.ingest.snapshot);
    await this.ingest.runToEnd();
    await this.installation.backUp();
    await this.watch();
  }

  /** Evaluates the alerts, which notify somebody. */
  async watch(): Promise<void> {
    this.monitor.restart({
      ALERT_WEBHOOKS: JSON.stringify([
        { name: "ops", kind: "webhook", url: "http://127.0.0.1:9/", secret: WEBHOOK_SECRET },
      ]),
    });
    await this.evaluate();
  }

  /** Evaluates the alerts over the coordinator and the backups as they are now. */
  async evaluate(): Promise<void> {
    this.monitor.time = this.ingest.time;
    // The monitor reads other stores, with another coverage.
    this.monitor.ingest = { ...this.ingest.coordinator.status(), bestCoverage: {} };
    this.monitor.backups = await newestTimes(this.installation.store);
    await this.monitor.evaluate();
  }

  /** Writes rows of runs to D1, as an earlier coordinator has. */
  saveRuns(...runs: readonly Run[]): Promise<void> {
    return this.#history.saveRuns(runs.map((run) => ({ seq: ++this.#seq, run })));
  }

  /** Makes every call with this prefix fail. */
  breakCalls(prefix: string): void {
    this.before = (call) => {
      if (call.startsWith(prefix)) throw new Error(`${prefix} is away`);
    };
  }

  breakD1(): void {
    this.d1.before = () => {
      throw new Error("D1_ERROR");
    };
  }

  /** Answers a request; `authorization` is that of an operator unless another is given. */
  async request(path: string, init: RequestInit = {}): Promise<Response> {
    const headers = new Headers(init.headers);
    if (!headers.has("authorization")) headers.set("authorization", `Bearer ${OPERATOR_TOKEN}`);
    return this.send(path, { ...init, headers });
  }

  /** Answers a request as it is, in `isolate` or a new one. */
  async send(path: string, init: RequestInit = {}): Promise<Response> {
    await this.#saveEvaluations().catch(() => {});
    const answer = await (this.isolate ?? this.newIsolate()).request(path, init);
    const request = { method: init.method ?? "GET", path };
    await checkAnswer(OPENAPI, request, await decoded(answer.clone()));
    return answer;
  }

  async #saveEvaluations(): Promise<void> {
    const rows = [...this.monitor.rows.values()].filter((run) => !this.#saved.has(run));
    await this.#alertHistory.saveRuns(rows);
    for (const run of rows) this.#saved.add(run);
  }

  /** Sends a JSON body, or none. */
  post(path: string, body?: unknown, headers: { readonly [name: string]: string } = {}) {
    return this.request(path, {
      method: "POST",
      headers: { "content-type": "application/json", ...headers },
      ...(body !== undefined && { body: typeof body === "string" ? body : JSON.stringify(body) }),
    });
  }

  newIsolate() {
    const { d1, ingest } = this;
    const now = () => ingest.time;
    const { limits } = readLimits({});
    const audit = createAuditStore(d1.binding);
    const suggester = new Suggester((path) => this.readAsset(path));
    const openReader = () =>
      new CachedCatalogReader({
        store: this.store,
        now,
        waitUntil: () => {},
        report: () => {},
        createPipe: () => new TransformStream(),
        manifestFreshMs: 30_000,
        cacheMaxBytes: 1_000_000,
      });
    return createAdminApp({
      credentials: this.credentials,
      verifyAccess: async () => this.access,
      mayFailAgain: async (client) => {
        if (this.failureLimit === null) throw new Error("no rate limit");
        this.failures.push(client);
        return this.failures.length <= this.failureLimit;
      },
      coordinator: coordinatorCalls(() => this.#stub("coordinator", () => ingest.coordinator)),
      history: this.#history,
      archive: ingest.archive,
      backups: this.installation.store,
      alerts: monitorCalls(() => this.#stub("monitor", () => this.monitor.monitor)),
      alertHistory: this.#alertHistory,
      reader: openReader(),
      openReader,
      defaultLocale: ingest.defaultLocale,
      limits,
      audit,
      suggest: (wanted) => suggester.suggest(wanted),
      probes: this.probes,
      jobs: scheduledJobs(),
      recordChange: createAuditTrail({
        save: async (entries) => {
          this.audited.push(...entries);
          await audit.save(entries);
        },
        keep: (entry) => ingest.coordinator.keepAuditEntry(entry),
        log: () => {},
      }),
      now,
      waitUntil: (promise) => void this.awaited.push(promise),
      notice: "Credits",
      version: "test",
    });
  }

  /** A Durable Object as its stub shows it: each call runs separately, and returns a copy. */
  #stub(name: string, object: () => object): Calls {
    const call =
      (method: string) =>
      async (...args: readonly unknown[]) => {
        await this.before(`${name} ${method}`);
        const target = object();
        return structuredClone(await Reflect.get(target, method).apply(target, args));
      };
    return new Proxy({}, { get: (_, method) => call(String(method)) }) as Calls;
  }
}

type Calls = CoordinatorCalls & MonitorCalls;

/** Decodes an answer as `fetch` does, which is not between this and the routes. */
async function decoded(answer: Response): Promise<Response> {
  if (answer.headers.get("content-encoding") !== "br") return answer;
  return new Response(brotliDecompressSync(await answer.arrayBuffer()), answer);
}
