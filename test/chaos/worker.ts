/**
 * The Worker as it is deployed, with bindings that fail when the harness wants them to, and a
 * control path whose secret the harness alone knows.
 */
import { clockOffset, moveAlarm, setClock, withClock } from "./worker-clock.ts"; // first of all
import { Buffer } from "node:buffer";
import type { Run } from "../../src/schemas/run.ts";
import type { RunRecord } from "../../src/coordinator/run-record.ts";
import { INGEST_INSTANCE } from "../../src/platform/instances.ts";
import service, {
  AlertMonitor as Monitor,
  IngestCoordinator as Coordinator,
} from "../../src/worker/worker.ts";
import type { Manifest } from "../../src/parts/manifest.ts";
import { openManifest } from "../../src/parts/stored-manifest.ts";
import { manifestSchema } from "../../src/parts/manifest-schema.ts";
import { parseJson } from "../../src/platform/parse-json.ts";
import { dropKey, GENERATIONS_PREFIX, MANIFEST_KEY } from "../../src/storage/keys.ts";
import { anEnqueueRequest } from "../builders/run.ts";
import { copyBackup, readBackupContent } from "./backup-content.ts";
import type { BackupJob, CoordinatorTruth, StoredState } from "./evidence.ts";
import type { FaultPlan } from "./fault-plan.ts";
import { COLLECTED_PREFIX, faultyEnv } from "./faulty-bindings.ts";
import { FaultyCalls } from "./faulty-calls.ts";

export { PartCompressor } from "../../src/worker/worker.ts";

interface ChaosEnv extends Env {
  readonly CHAOS_SECRET: string;
  readonly CHAOS_PLAN: FaultPlan;
  /** The clock's offset from the machine's. */
  readonly CHAOS_CLOCK_MS: string;
  readonly OTHER_COORDINATOR: DurableObjectNamespace<OtherCoordinator>;
  readonly OTHER_HISTORY: D1Database;
}

/** An isolate serves and ingests at once here, so that both have the same plan. */
const calls = new FaultyCalls();
let faulty: Env | undefined;

function open(env: Env): Env {
  if (faulty === undefined) {
    const { CHAOS_PLAN, CHAOS_CLOCK_MS } = env as ChaosEnv; // set by the harness
    calls.plan = CHAOS_PLAN;
    setClock(Number(CHAOS_CLOCK_MS));
  }
  faulty ??= faultyEnv(env, calls);
  return faulty;
}

export class IngestCoordinator extends Coordinator {
  constructor(ctx: DurableObjectState, env: Env) {
    super(withClock(ctx), open(env));
  }

  /** Moves the alarm after the clock's offset has changed. */
  moveAlarm(before: number): Promise<void> {
    return moveAlarm(this.ctx, before);
  }

  /** Loses the memory, in the middle of any work. */
  reset(): void {
    this.ctx.abort("reset by the chaos run");
  }

  /** The stored backup jobs. */
  inspectJobs(): BackupJob[] {
    return this.ctx.storage.sql
      .exec<{ key: string | null; state: string }>(
        "SELECT key, record ->> '$.job.state' AS state FROM jobs WHERE work = 'backup'",
      )
      .toArray();
  }

  /** The coordinator's tables, whatever its answers are. */
  inspect(): CoordinatorTruth {
    const texts = (query: string) =>
      this.ctx.storage.sql
        .exec<{ text: string }>(query)
        .toArray()
        .map(({ text }) => text);
    const records = texts("SELECT record AS text FROM jobs WHERE work = 'ingest' ORDER BY id").map(
      (text): RunRecord => JSON.parse(text),
    );
    const manifests = texts("SELECT manifest AS text FROM versions ORDER BY generation").map(
      readRecorded,
    );
    const count = (query: string) => this.ctx.storage.sql.exec<{ rows: number }>(query).one().rows;
    return {
      runs: records.map(({ job }) => job),
      manifests: manifests.filter((manifest) => manifest !== null),
      outbox: count("SELECT COUNT(*) AS rows FROM outgoing WHERE outbox = 'history'"),
      auditOutbox: count("SELECT COUNT(*) AS rows FROM outgoing WHERE outbox = 'audit'"),
      isReplicated:
        count("SELECT COUNT(*) AS rows FROM single_values WHERE key = 'unreplicated'") === 0,
    };
  }
}

/** It publishes in other languages, so that its backups do not fit this installation's settings. */
const OTHER_SETTINGS = { LOCALES: "de,fr", DEFAULT_LOCALE: "de" } as const;

/** Another installation over the same KV and R2, with its own state and D1. */
export class OtherCoordinator extends Coordinator {
  constructor(ctx: DurableObjectState, env: Env) {
    const { OTHER_HISTORY: HISTORY } = env as ChaosEnv; // of this Worker
    super(withClock(ctx), { ...open(env), HISTORY, ...OTHER_SETTINGS });
  }
}

/** Requests to the other installation. */
async function askOther(env: Env, deed: string): Promise<unknown> {
  const other = (env as ChaosEnv).OTHER_COORDINATOR.getByName(INGEST_INSTANCE); // of this Worker
  switch (deed) {
    case "publish":
      return other.enqueue(anEnqueueRequest({ source: "dropped", requested_by: "other" }));
    case "roll_back": {
      const [, earlier] = await other.versions();
      return other.rollback(earlier?.generation ?? 1);
    }
    case "look":
      return other.reconcile();
    case "take_over": {
      const answer = await other.takeOver("other");
      await other.resume();
      return answer;
    }
    case "back_up":
      return other.backUp({
        trigger: "manual",
        note: "of another installation",
        pin: false,
        requested_by: "other",
        idempotencyKey: crypto.randomUUID(),
      });
    case "status":
      return other.status();
    default:
      throw new Error(`it cannot ${deed}`);
  }
}

export class AlertMonitor extends Monitor {
  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, open(env));
  }
}

export default {
  async fetch(request, env) {
    const { pathname, searchParams } = new URL(request.url);
    const [, prefix, secret, what] = pathname.split("/");
    if (prefix !== "chaos") return service.fetch(request, open(env));
    if (secret !== (env as ChaosEnv).CHAOS_SECRET) return new Response(null, { status: 404 });
    open(env);
    switch (what ?? "") {
      case "plan":
        calls.plan = await request.json();
        return Response.json({});
      case "injected":
        return Response.json(calls.takeInjected());
      case "drop":
        await env.ARCHIVE.put(dropKey(searchParams.get("name") ?? ""), await request.arrayBuffer());
        return Response.json({});
      case "tick":
        await service.scheduled(
          {
            cron: searchParams.get("cron") ?? "",
            scheduledTime: Number(searchParams.get("at")),
            noRetry: () => undefined,
          },
          open(env),
        );
        return Response.json({});
      case "reset":
        await coordinator(env).reset();
        return Response.json({});
      case "clock": {
        const before = clockOffset();
        setClock(Number(searchParams.get("ms")));
        await coordinator(env).moveAlarm(before);
        return Response.json({});
      }
      case "copy_backup": {
        const [from = "", to = ""] = ["from", "to"].map((name) => searchParams.get(name) ?? "");
        await copyBackup(env.BACKUPS, { from, to });
        return Response.json({});
      }
      case "other": {
        const answer = await askOther(env, searchParams.get("deed") ?? "").catch(String);
        return Response.json(answer ?? null);
      }
      case "backup":
        return Response.json(await readBackupContent(env.BACKUPS, searchParams.get("id") ?? ""));
      case "state":
        return Response.json(await readState(env));
      default:
        return new Response(null, { status: 404 });
    }
  },

  scheduled: async (controller, env) => service.scheduled(controller, open(env)),
} satisfies ExportedHandler<Env>;

function coordinator(env: Env) {
  const namespace = env.COORDINATOR as unknown as DurableObjectNamespace<IngestCoordinator>; // the class above
  return namespace.getByName(INGEST_INSTANCE);
}

/** Everything that is stored, read without faults. */
async function readState(env: Env): Promise<StoredState> {
  const truth = await coordinator(env).inspect();
  const rowsOf = async (database: D1Database) => {
    const query = database.prepare("SELECT run FROM ingest_runs ORDER BY id");
    const { results } = await query.all<{ run: string }>();
    return results.map(({ run }): Run => JSON.parse(run));
  };
  const audit = await env.HISTORY.prepare("SELECT id FROM audit").all<{ id: string }>();
  const kept: { [generation: string]: Manifest } = {};
  for (const prefix of [`${COLLECTED_PREFIX}${GENERATIONS_PREFIX}`, GENERATIONS_PREFIX]) {
    const { objects } = await env.ARCHIVE.list({ prefix, limit: 1000 });
    for (const { key } of objects) {
      const manifest = await readJson(await env.ARCHIVE.get(key));
      if (manifest !== null) kept[manifest.generation] = manifest;
    }
  }
  return {
    truth,
    rows: await rowsOf(env.HISTORY),
    otherRows: await rowsOf((env as ChaosEnv).OTHER_HISTORY), // of this Worker
    audit: audit.results.map(({ id }) => id),
    backupJobs: await coordinator(env).inspectJobs(),
    kept,
    kv: await readManifest(await env.CATALOG.get(MANIFEST_KEY)),
    r2: await readJson(await env.ARCHIVE.get(MANIFEST_KEY)),
  };
}

async function readJson(object: R2ObjectBody | null): Promise<Manifest | null> {
  return object === null ? null : readManifest(await object.text());
}

/** A manifest in a table. An unreadable one is missing, which the checker finds. */
function readRecorded(text: string): Manifest | null {
  const parsed = manifestSchema.safeParse(parseJson(text));
  return parsed.success ? parsed.data : null;
}

/** A manifest in a store, likewise. */
async function readManifest(text: string | null): Promise<Manifest | null> {
  const bytes = Uint8Array.from(Buffer.from(text ?? ""));
  const opened = await openManifest(bytes);
  return opened.ok ? opened.manifest : null;
}
