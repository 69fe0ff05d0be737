/**
 * Looks whether rows of the coordinator's tables can be worked with, before a restore takes them
 * over: what one row lacks would stop the queue, or all rows that wait for D1 behind it. Pure.
 */
import { z } from "zod";
import { parseManifest } from "../catalog/parse-manifest.ts";
import type { SqlRow } from "../storage/table-storage.ts";
import { RUN_MODES, RUN_OUTCOMES, RUN_STATES, RUN_TRIGGERS, SKIP_REASONS, STAGES } from "./run.ts";

const time = z.iso.datetime({ precision: 3 });
const count = z.int().nonnegative();
const object = z.record(z.string(), z.unknown());
const upstream = z.record(
  z.string(),
  z.looseObject({ sha256: z.string().regex(/^[0-9a-f]{64}$/) }),
);

const run = z.looseObject({
  id: z.string(),
  state: z.enum(RUN_STATES),
  outcome: z.enum(RUN_OUTCOMES).nullable(),
  trigger: z.enum(RUN_TRIGGERS),
  mode: z.enum(RUN_MODES),
  source: z.string(),
  forced: z.boolean(),
  requestedBy: z.string(),
  note: z.string().nullable(),
  attempt: count,
  parentRunId: z.string().nullable(),
  // Nullish: runs of an older backup lack these two.
  candidateOf: z.string().nullish(),
  changes: object.nullish(),
  retries: count,
  queuedAt: time,
  startedAt: time.nullable(),
  heartbeatAt: time.nullable(),
  finishedAt: time.nullable(),
  durationMs: z.int().nullable(),
  stage: z.enum(STAGES).nullable(),
  progress: z.looseObject({ done: count, total: count }),
  skippedReason: z.enum(SKIP_REASONS).nullable(),
  skipCount: count,
  upstream,
  counts: object.nullable(),
  accounting: object.nullable(),
  rejects: z.array(object),
  rejectsTotal: count,
  guards: z.array(z.looseObject({ guard: z.string(), message: z.string() })),
  generationBefore: count.nullable(),
  generationAfter: count.nullable(),
  catalogSha256: z.string().nullable(),
  error: z.looseObject({ code: z.string(), stage: z.enum(STAGES), message: z.string() }).nullable(),
  workerVersion: z.string().nullable(),
});

const record = z.looseObject({
  run,
  checkpoint: z.looseObject({
    stage: z.enum(STAGES),
    madeBy: z.string().nullable(),
    entries: object,
  }),
  fence: count,
  attempts: count,
  leaseUntil: z.number().nullable(),
  notBefore: z.number().nullable(),
  cancelRequestedBy: z.string().nullable(),
});

const pause = z.looseObject({
  at: time,
  by: z.string(),
  reason: z.string().nullable(),
  until: z.iso.datetime({ offset: true }).nullable(),
});

const auditEntry = z.looseObject({
  id: z.string(),
  at: time,
  actor: z.string(),
  action: z.string(),
  target: z.string().nullable(),
  outcome: z.enum(["done", "refused", "failed"]),
  status: count,
  code: z.string().nullable(),
  detail: z.string().nullable(),
  requestId: z.string(),
});

/** What is wrong with a row of the coordinator's tables; undefined if it can be worked with. */
export function stateProblem(table: string, row: SqlRow): string | undefined {
  try {
    const found = issuesOf(table, row);
    return found.length === 0 ? undefined : `${table}: ${found.slice(0, 3).join("; ")}`;
  } catch (error) {
    return `${table}: ${String(error)}`;
  }
}

function issuesOf(table: string, row: SqlRow): string[] {
  switch (table) {
    case "runs": {
      const value = readJson(row["record"]);
      const found = issues(record, value);
      if (found.length > 0) return found;
      const { id, state } = record.parse(value).run;
      return id === row["id"] && state === row["state"]
        ? []
        : ["a run is not the one it is said to be"];
    }
    case "versions": {
      const parsed = parseManifest(String(row["manifest"]));
      if (!parsed.ok) return [parsed.problem];
      const isSame = parsed.manifest.generation === row["generation"];
      return isSame ? [] : ["a version is not of the generation it is said to be"];
    }
    case "outbox":
      return issues(run, readJson(row["run"]));
    case "audit_outbox":
      return issues(auditEntry, readJson(row["entry"]));
    case "ticks":
      return issues(z.object({ cron: z.string(), at: z.number() }), row);
    case "facts":
      return factIssues(String(row["name"]), readJson(row["value"]));
    default:
      return [];
  }
}

function factIssues(name: string, value: unknown): string[] {
  if (name === "pause") return issues(pause, value);
  if (name === "skipped_run") return issues(z.string(), value);
  if (name === "unreplicated") return issues(count, value);
  return name.startsWith("archived:") ? issues(upstream, value) : [];
}

function issues(schema: z.ZodType, value: unknown): string[] {
  const parsed = schema.safeParse(value);
  if (parsed.success) return [];
  return parsed.error.issues.map(({ path, message }) => `${path.join(".")} ${message}`);
}

/** Throws if a column holds no JSON. */
function readJson(text: unknown): unknown {
  return JSON.parse(String(text));
}
