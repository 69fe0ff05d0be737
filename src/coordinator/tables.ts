/** The coordinator's tables of jobs, versions, decisions and garbage. Every method is synchronous. */
import * as z from "zod";
import type { Decision } from "../acceptance/decisions.ts";
import { FORMER_FORMAT, type FormerManifest, fromFormer } from "../parts/former-manifest.ts";
import type { Manifest } from "../parts/manifest.ts";
import { manifestSchema } from "../parts/manifest-schema.ts";
import type { NumberedDecision } from "../ingest/step.ts";
import {
  type ObjectTables,
  type SqlRow,
  storedTime,
  timeWithin,
} from "../storage/object-tables.ts";
import { JsonTable, type ObjectSchema } from "../storage/object-tables.ts";
import { FIRST_INGEST_WAIT_MAX_MS, isOpen, type JobRecord, RETRY_MAX_MS } from "./jobs.ts";
import { BACKUP, jobSchema, PLANS } from "../schemas/backup-job.ts";
import { savedLedger } from "../backup/state-part.ts";
import {
  count,
  deadline,
  type DeepReadonly,
  generation as generationSchema,
  hexHash,
  timestamp,
} from "../schemas/fields.ts";
import { GENERATION_MAX, PUBLISHED_MAX } from "../platform/ranges.ts";
import { heldSummary, REPORT_FIELDS } from "../schemas/run-report.ts";
import { STAGES } from "../schemas/run-words.ts";
import { pauseSchema } from "../schemas/pause.ts";
import { runDetailsSchema } from "../schemas/run.ts";
import type { DurationMs, EpochMs } from "../platform/units.ts";
import { INGEST } from "./run-record.ts";

/** The versions of the coordinator's tables. The first also names the installation. */
export const COORDINATOR_SCHEMA: ObjectSchema = [
  [
    "CREATE TABLE jobs (id TEXT PRIMARY KEY, work TEXT NOT NULL, is_open INTEGER NOT NULL, key TEXT, record TEXT NOT NULL)",
    "CREATE INDEX jobs_by_work ON jobs (work, is_open, id)",
    "CREATE INDEX jobs_by_key ON jobs (key)",
    "CREATE TABLE versions (generation INTEGER PRIMARY KEY, manifest TEXT NOT NULL)",
    "CREATE TABLE decisions (seq INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT UNIQUE NOT NULL, decision TEXT NOT NULL)",
    "CREATE TABLE outgoing (seq INTEGER PRIMARY KEY AUTOINCREMENT, outbox TEXT NOT NULL, id TEXT, value TEXT NOT NULL, UNIQUE (outbox, id))",
    "CREATE TABLE ticks (key TEXT PRIMARY KEY, value TEXT NOT NULL)",
    "CREATE TABLE facts (key TEXT PRIMARY KEY, value TEXT NOT NULL)",
    "CREATE TABLE garbage (key TEXT PRIMARY KEY, value TEXT NOT NULL)",
    "INSERT INTO facts (key, value) VALUES ('owner', json_quote(lower(hex(randomblob(16)))))",
  ],
  // Manifests of format 4, and their text for the stores.
  [
    `UPDATE versions SET manifest = json_set(manifest, '$.format', 4,
      '$.diffs', json((SELECT json_group_array(json_set(value, '$.deltas', NULL))
        FROM json_each(manifest, '$.diffs'))),
      '$.locales', json((SELECT json_group_object(key, json_set(json_remove(value, '$.translation'), '$.own', json('{}')))
        FROM json_each(manifest, '$.locales')))) WHERE json_valid(manifest)`,
    "INSERT OR REPLACE INTO facts (key, value) SELECT 'unreplicated', generation FROM versions ORDER BY generation DESC LIMIT 1",
  ],
  // A verification without its last stage, `rebuild`, and without the verdict `intact`.
  [
    `UPDATE jobs SET record = replace(replace(replace(record,
      '"stage":"rebuild"', '"stage":"check_catalog"'), '"verdict":"intact"', '"verdict":"verified"'),
      '"code":"rebuild_mismatch"', '"code":"catalog_mismatch"') WHERE work = 'backup'`,
    `UPDATE jobs SET record = json_set(record, '$.checkpoint.at', (record ->> '$.checkpoint.at') - 1)
      WHERE work = 'backup' AND iif(json_valid(record),
        record ->> '$.job.kind' <> 'run' AND record ->> '$.checkpoint.at' >= 3, 0)`,
  ],
  // Manifests of format 5.
  ["UPDATE versions SET manifest = json_set(manifest, '$.format', 5) WHERE json_valid(manifest)"],
  // Manifests of format 6, for the stores. `VersionTable` converts the rows.
  [
    "INSERT OR REPLACE INTO facts (key, value) SELECT 'unreplicated', generation FROM versions ORDER BY generation DESC LIMIT 1",
    "ALTER TABLE facts RENAME TO single_values",
  ],
];

/** Retained number of ended jobs of each work. */
const ENDED_JOBS_KEPT = 100;

/** All jobs. Not a `JsonTable`: alarms read only the open ones, and requests find a job by its key. */
export class JobTable {
  readonly #tables: ObjectTables;

  constructor(tables: ObjectTables) {
    this.#tables = tables;
    this.#exec(
      `UPDATE jobs SET is_open = iif(json_valid(record), record ->> '$.job.state' IN ('queued', 'running'), 1)
        WHERE is_open NOT IN (0, 1)`,
    );
  }

  save(record: JobRecord): void {
    const { work, job, key } = record;
    this.#exec(
      "INSERT OR REPLACE INTO jobs (id, work, is_open, key, record) VALUES (?, ?, ?, ?, ?)",
      job.id,
      work,
      Number(isOpen(job.state)),
      key,
      // The checkpoint of an ended job is useless, and may be long.
      JSON.stringify(isOpen(job.state) ? record : { ...record, checkpoint: null }),
    );
    if (!isOpen(job.state)) this.#pruneEnded(work);
  }

  find(work: string, id: string): JobRecord | undefined {
    return this.#records("WHERE work = ? AND id = ?", work, id)[0];
  }

  /** Finds the job of an earlier request with this key. */
  findRepeated<R extends JobRecord>(
    key: string | null,
    isOfWork: (record: JobRecord) => record is R,
  ): R | undefined {
    if (key === null) return undefined;
    return this.#records("WHERE key = ?", key).find(isOfWork);
  }

  open(): JobRecord[] {
    return this.#records("WHERE is_open = 1 ORDER BY id");
  }

  /** Lists the jobs of one work, newest first. */
  newest(work: string, limit = -1): JobRecord[] {
    return this.#records("WHERE work = ? ORDER BY id DESC LIMIT ?", work, limit);
  }

  /** Lists ended jobs, the last to end first. The order of ids follows a clock, which may have been wrong. */
  ended(work: string): JobRecord[] {
    return this.#records("WHERE work = ? AND is_open = 0 ORDER BY rowid DESC", work);
  }

  #pruneEnded(work: string): void {
    this.#exec(
      `DELETE FROM jobs WHERE work = ? AND is_open = 0 AND id NOT IN (
        SELECT id FROM jobs WHERE work = ? AND is_open = 0 ORDER BY rowid DESC LIMIT ?
      )`,
      work,
      work,
      ENDED_JOBS_KEPT,
    );
  }

  #records(where: string, ...bindings: (string | number)[]): JobRecord[] {
    return this.#exec(`SELECT id, is_open, record FROM jobs ${where}`, ...bindings).flatMap(
      (row) => {
        const key = String(row["id"]);
        // An ended job never changes.
        const field = row["is_open"] === 1 && { field: "record" };
        const stored = { table: "jobs", column: "id", key, ...field, text: row["record"] };
        const record = this.#tables.read(stored, () =>
          jobRecordSchema.refine(({ job }) => job.id === key, "has another id"),
        );
        return record === undefined ? [] : [record as JobRecord]; // by the schema
      },
    );
  }

  #exec(query: string, ...bindings: (string | number | null)[]): SqlRow[] {
    return this.#tables.exec(query, ...bindings);
  }
}

/**
 * The retained versions. Not a `JsonTable`: it reads only the newest, and refuses to use a generation
 * twice.
 */
export class VersionTable {
  readonly #tables: ObjectTables;

  constructor(tables: ObjectTables) {
    this.#tables = tables;
    tables.removeBeyond("versions", "generation", "manifest", GENERATION_MAX);
  }

  /** Lists the versions, newest first. */
  newest(limit = -1): Manifest[] {
    return this.#manifests("ORDER BY generation DESC LIMIT ?", limit);
  }

  find(generation: number): Manifest | undefined {
    return this.#manifests("WHERE generation = ?", generation)[0];
  }

  /** Throws if the generation exists. */
  add(manifest: Manifest): void {
    this.#exec(
      "INSERT INTO versions (generation, manifest) VALUES (?, ?)",
      manifest.generation,
      JSON.stringify(manifest),
    );
  }

  delete(generation: number): void {
    this.#exec("DELETE FROM versions WHERE generation = ?", generation);
  }

  clear(): void {
    this.#exec("DELETE FROM versions");
  }

  /**
   * Reads versions. Returns none if the newest cannot be read: `adoptVersions` then adopts those of the
   * stores, so that no generation is used twice.
   */
  #manifests(where: string, ...bindings: number[]): Manifest[] {
    const rows = this.#exec(`SELECT generation, manifest FROM versions ${where}`, ...bindings);
    const manifests = rows.flatMap((row) => {
      const key = Number(row["generation"]);
      const stored = { table: "versions", column: "generation", key, text: row["manifest"] };
      const manifest = this.#tables.read(stored, () =>
        manifestSchema.refine(({ generation }) => generation === key, "has another generation"),
      );
      return manifest === undefined ? [] : [this.#current(manifest as Manifest | FormerManifest)]; // by the schema
    });
    const read = new Set(manifests.map(({ generation }) => generation));
    const lost = rows.map((row) => Number(row["generation"])).filter((key) => !read.has(key));
    if (lost.every((key) => key < this.#highest())) return manifests;
    this.clear();
    return [];
  }

  /** Converts a manifest of the previous format, also in its row. */
  #current(manifest: Manifest | FormerManifest): Manifest {
    if (manifest.format !== FORMER_FORMAT) return manifest;
    const converted = fromFormer(manifest);
    this.#exec(
      "UPDATE versions SET manifest = ? WHERE generation = ?",
      JSON.stringify(converted),
      converted.generation,
    );
    return converted;
  }

  #highest(): number {
    const [row] = this.#exec("SELECT MAX(generation) AS highest FROM versions");
    return Number(row?.["highest"] ?? 0);
  }

  #exec(query: string, ...bindings: (string | number)[]): SqlRow[] {
    return this.#tables.exec(query, ...bindings);
  }
}

/** Maximum number of decisions that are kept: twice as many as there are airports. */
const DECISIONS_MAX = 20_000;

/**
 * The latest decision of operators about each held change. An approval stays until a run has applied
 * it. A rejection stays for good, because a rollback restores a ledger without it. Not a `JsonTable`,
 * because no number is used twice, even after its decision was deleted.
 */
export class DecisionTable {
  readonly #tables: ObjectTables;

  constructor(tables: ObjectTables) {
    this.#tables = tables;
    tables.renumber("decisions");
  }

  /** Adds decisions. A later one about a change replaces an earlier one. */
  add(decisions: readonly Decision[]): void {
    for (const decision of decisions)
      this.#tables.exec(
        "INSERT OR REPLACE INTO decisions (id, decision) VALUES (?, ?)",
        decision.id,
        JSON.stringify(decision),
      );
    this.#tables.exec(
      "DELETE FROM decisions WHERE seq NOT IN (SELECT seq FROM decisions ORDER BY seq DESC LIMIT ?)",
      DECISIONS_MAX,
    );
  }

  list(): NumberedDecision[] {
    const rows = this.#tables.exec("SELECT seq, decision FROM decisions ORDER BY seq");
    return rows.flatMap((row) => {
      const seq = Number(row["seq"]);
      const stored = { table: "decisions", column: "seq", key: seq, text: row["decision"] };
      const decision = this.#tables.read(stored, () => decisionSchema);
      return decision === undefined ? [] : [{ ...(decision as Decision), seq }]; // by the schema
    });
  }

  /** Deletes the approvals up to this number. */
  deleteApproved(through: number): void {
    this.#tables.exec(
      "DELETE FROM decisions WHERE seq <= ? AND decision ->> '$.verdict' = 'approved'",
      through,
    );
  }
}

/** The time when each unreferenced file was found. */
export class GarbageTable {
  readonly #since: JsonTable<{ readonly [name: string]: EpochMs }>;

  constructor(tables: ObjectTables) {
    this.#since = new JsonTable(tables, "garbage", () => storedTime);
  }

  /** Records the unreferenced files. Returns those that have been unreferenced for `ageMs`. */
  mark(unreferenced: readonly string[], now: EpochMs, ageMs: DurationMs): string[] {
    const since = new Map(this.#since.entries());
    this.#since.clear();
    return unreferenced.filter((name) => {
      const at = since.get(name) ?? now;
      this.#since.set(name, at);
      return now - at >= ageMs;
    });
  }
}

const RECORD_FIELDS = {
  key: z.string().nullable(),
  attempts: count,
  notBefore: timeWithin(RETRY_MAX_MS).nullable(),
  isPausable: z.boolean(),
  leavesPause: z.boolean(),
  isCommitted: z.boolean(),
};

/** An ended job has no checkpoint. If a step finds the rest of its checkpoint wrong, its job fails. */
const jobRecordSchema = z.discriminatedUnion("work", [
  z
    .object({
      ...RECORD_FIELDS,
      work: z.literal(INGEST),
      job: runDetailsSchema,
      checkpoint: z
        .object({
          stage: z.enum(STAGES),
          // The fields that the end of a run records, which cannot fail.
          sources: z.record(z.string(), hexHash),
          parsed: z.object({ held: heldSummary, lastDecision: count }).nullable(),
        })
        .nullable(),
    })
    .refine(({ job, checkpoint }) => !isOpen(job.state) || checkpoint !== null, "has no stage"),
  z
    .object({
      ...RECORD_FIELDS,
      work: z.literal(BACKUP),
      job: jobSchema,
      checkpoint: z.object({ at: count, done: count }).nullable(),
    })
    .refine(
      ({ job, checkpoint }) =>
        !isOpen(job.state) || PLANS[job.kind][checkpoint?.at ?? -1] !== undefined,
      "has no stage",
    ),
]);

const decisionSchema = z.object({
  id: z.string(),
  verdict: z.enum(["approved", "rejected"]),
  by: z.string(),
  at: timestamp,
  note: z.string().nullable(),
});

/** The fields that D1 needs of an audit entry. */
export const auditEntrySchema = z.object({
  id: z.string(),
  at: timestamp,
  actor: z.string(),
  action: z.string(),
  outcome: z.enum(["done", "refused", "failed"]),
  status: z.int(),
  requestId: z.string(),
});

/** The ledger of the last run, and the current version at that time. */
const recordedLedger = savedLedger.extend({
  generation: generationSchema,
  /** A restored version may have the generation of another one, so the time identifies it too. */
  published_at: deadline,
});

const VALUES = {
  pause: pauseSchema,
  /** Identifies this installation among others with the same stores. Made with the tables. */
  owner: z.string().min(1),
  /** ETag of another installation's manifest that this one may replace. */
  replaceable: z.string(),
  /** Why another owner has the stores. */
  foreign: z.string(),
  skipped_run: z.string(),
  unreplicated: generationSchema,
  /** The highest generation in the stores when their versions were adopted. */
  highest: count.max(PUBLISHED_MAX),
  /** Time of the last complete collection of garbage. */
  collected_at: storedTime,
  /** The time when rows of D1 were found missing, until a restore. */
  history_lost: timestamp,
  ledger: recordedLedger,
  /** The last Idempotency-Keys, the newest first, and the fingerprint of each one's request. */
  request_keys: z.array(z.tuple([z.string(), z.string()])),
} as const;

/** Values of each source. Its name follows after a colon. */
const VALUES_OF_SOURCES = {
  archived: REPORT_FIELDS.upstream,
  /** Time before which it has asked for no request. */
  retry_at: timeWithin(FIRST_INGEST_WAIT_MAX_MS),
} as const;

type Outputs<Schemas extends { readonly [name: string]: z.ZodType }> = {
  readonly [Name in keyof Schemas & string]: DeepReadonly<z.output<Schemas[Name]>>;
};

export type CoordinatorValues = Outputs<typeof VALUES> & {
  readonly [Name in keyof typeof VALUES_OF_SOURCES as `${Name}:${string}`]: Outputs<
    typeof VALUES_OF_SOURCES
  >[Name];
};

/** The schema of a single value. No Worker writes any other value. */
export function schemaOfValue(key: string): z.ZodType {
  const schemas: { readonly [name: string]: z.ZodType } = key.includes(":")
    ? VALUES_OF_SOURCES
    : VALUES;
  const [name = ""] = key.split(":");
  return Object.hasOwn(schemas, name) ? (schemas[name] ?? z.never()) : z.never();
}
