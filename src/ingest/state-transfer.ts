import { sha256Hex } from "../catalog/hash.ts";
import type { Manifest } from "../catalog/manifest.ts";
import { parseManifest } from "../catalog/parse-manifest.ts";
import type { SqlRow, TableStorage } from "../storage/table-storage.ts";
import type { CoordinatorState } from "./coordinator-state.ts";
import { endedRecord, type RunRecord } from "./run-record.ts";
import { stateProblem } from "./state-problem.ts";

/** A row of the coordinator's tables, as a line of JSON holds it. */
export interface StateLine {
  readonly table: string;
  readonly row: SqlRow;
}

/** A page of a snapshot: some lines, and where the next page begins; null after the last. */
export interface SnapshotPage {
  readonly lines: readonly string[];
  readonly next: number | null;
}

/** What is to become the coordinator's state: as many lines as were staged, with this hash. */
export interface ImportRequest {
  readonly lines: number;
  /** SHA-256 (hex) of the lines, each with a line feed. */
  readonly sha256: string;
  /** The new generation is higher than this one, whatever the coordinator itself has seen. */
  readonly aboveGeneration: number;
}

export type ImportResult =
  | {
      readonly ok: true;
      /** The generation that serves the restored catalog; null if none was published. */
      readonly generation: number | null;
    }
  | {
      readonly ok: false;
      readonly reason: "not_held" | "run_active" | "incomplete" | "other_schema";
      readonly message: string;
    };

/** Tables that are no part of the state: what passes through, and who passes it. */
const OWN_TABLES = new Set(["snapshot", "incoming", "exchange"]);
/** Tables whose rows a replaced state adds to: what operators did was done. */
const KEPT_TABLES = new Set(["audit_outbox"]);
/** Stands for the number that the outbox gave out last, which its rows do not show. */
const SEQUENCE = "outbox_sequence";
/** A page stays well below what one RPC message may have (32 MiB). */
const PAGE_BYTES = 4 * 1024 * 1024;

/**
 * Hands out the coordinator's state as it is at one moment, and replaces it as a whole. Both go
 * page by page through tables of their own, so that neither a long state nor an eviction between
 * two pages changes that.
 */
export class StateTransfer {
  readonly #storage: TableStorage;
  readonly #state: CoordinatorState;
  readonly #now: () => number;

  constructor(storage: TableStorage, state: CoordinatorState, now: () => number) {
    this.#storage = storage;
    this.#state = state;
    this.#now = now;
    this.#exec("CREATE TABLE IF NOT EXISTS snapshot (n INTEGER PRIMARY KEY, line TEXT NOT NULL)");
    this.#exec("CREATE TABLE IF NOT EXISTS incoming (n INTEGER PRIMARY KEY, line TEXT NOT NULL)");
  }

  /** Copies every table at this moment. False if `by` does not hold the coordinator. */
  take(by: string): boolean {
    return this.#state.transaction(() => {
      if (!this.#isHeldBy(by)) return false;
      this.#exec("DELETE FROM snapshot");
      for (const table of this.#tables())
        for (const row of this.#exec(`SELECT * FROM "${table}"`)) this.#copy({ table, row });
      this.#copy({ table: SEQUENCE, row: { seq: this.#state.takeOutboxSeq() } });
      return true;
    });
  }

  /** Some lines of the copy, from the `from`th on. */
  read(from: number): SnapshotPage {
    const lines: string[] = [];
    let bytes = 0;
    for (let n = from; ; n++) {
      const [row] = this.#exec("SELECT line FROM snapshot WHERE n = ?", n + 1);
      if (row === undefined) return { lines, next: null };
      const line = String(row["line"]);
      bytes += line.length;
      if (lines.length > 0 && bytes > PAGE_BYTES) return { lines, next: n };
      lines.push(line);
    }
  }

  /** Forgets the copy, and what was staged. */
  forget(): void {
    this.#state.transaction(() => {
      this.#exec("DELETE FROM snapshot");
      this.#exec("DELETE FROM incoming");
    });
  }

  /** Keeps lines, the first of them as the `from`th, until `replace`. May be repeated. */
  stage(from: number, lines: readonly string[]): void {
    this.#state.transaction(() => {
      if (from === 0) this.#exec("DELETE FROM incoming");
      for (const [index, line] of lines.entries())
        this.#exec(
          "INSERT OR REPLACE INTO incoming (n, line) VALUES (?, ?)",
          from + index + 1,
          line,
        );
    });
  }

  /**
   * Replaces the state by what was staged, all or nothing. The restored catalog is recorded as a
   * new version, above every generation that was ever seen here or there. A run that was under
   * way in the backup is over, since the blobs that it had stored are not in it. What `by` has
   * replaced already stays: the call may be repeated. Rows that the tables do not take are refused.
   */
  replace(by: string, request: ImportRequest): ImportResult {
    try {
      return this.#replace(by, request);
    } catch (error) {
      return { ok: false, reason: "other_schema", message: String(error) };
    }
  }

  #replace(by: string, request: ImportRequest): ImportResult {
    return this.#state.transaction(() => {
      const done = this.#state.importedBy(by);
      if (done !== null) return { ok: true, generation: done.generation };
      const refusal = this.#refusal(by, request);
      if (refusal !== undefined) return refusal;
      const hold = this.#state.hold();
      const pause = this.#state.pause();
      const blobs = this.#state.blobs();
      const highest = Math.max(
        request.aboveGeneration,
        this.#state.currentVersion()?.generation ?? 0,
      );
      const outboxSeq = this.#state.takeOutboxSeq();
      this.#write();
      this.#state.addBlobs(blobs);
      this.#state.raiseOutboxSeq(outboxSeq);
      if (hold?.pauseTouched === true) this.#state.setPause(pause);
      this.#endRuns();
      const generation = this.#publish(highest);
      this.#state.setImportedBy(by, generation);
      this.#exec("DELETE FROM incoming");
      return { ok: true, generation };
    });
  }

  #copy(line: StateLine): void {
    this.#exec("INSERT INTO snapshot (line) VALUES (?)", JSON.stringify(line));
  }

  #refusal(by: string, { lines, sha256 }: ImportRequest): ImportResult | undefined {
    const refuse = (
      reason: Extract<ImportResult, { ok: false }>["reason"],
      message: string,
    ): ImportResult => ({ ok: false, reason, message });
    if (!this.#isHeldBy(by)) return refuse("not_held", "the coordinator is not held for it");
    const { running } = this.#state.queue();
    if (running !== undefined) return refuse("run_active", `run ${running.run.id} is under way`);
    const staged = this.#exec("SELECT line FROM incoming ORDER BY n").map(
      (row) => `${String(row["line"])}\n`,
    );
    if (staged.length !== lines || sha256Hex(...staged) !== sha256)
      return refuse("incomplete", `${staged.length} of ${lines} lines have arrived, or others`);
    const unknown = this.#unknownName(staged.map(parseLine));
    if (unknown === undefined) return undefined;
    return refuse("other_schema", `there is no ${unknown}`);
  }

  /** The first table or column of rows that is none here. */
  #unknownName(rows: readonly StateLine[]): string | undefined {
    const columns = new Map(this.#tables().map((table) => [table, this.#columns(table)]));
    for (const { table, row } of rows) {
      if (table === SEQUENCE) continue;
      const known = columns.get(table);
      if (known === undefined) return `table ${table}`;
      const column = Object.keys(row).find((name) => !known.has(name));
      if (column !== undefined) return `column ${table}.${column}`;
    }
    return undefined;
  }

  #write(): void {
    for (const table of this.#tables())
      if (!KEPT_TABLES.has(table)) this.#exec(`DELETE FROM "${table}"`);
    for (const { line } of this.#exec("SELECT line FROM incoming ORDER BY n")) {
      const { table, row } = parseLine(String(line));
      if (table === SEQUENCE) {
        this.#state.raiseOutboxSeq(Number(row["seq"]));
        continue;
      }
      const problem = stateProblem(table, row);
      if (problem !== undefined) throw new Error(problem);
      const columns = Object.keys(row);
      const names = columns.map((name) => `"${name.replaceAll('"', '""')}"`).join(", ");
      const marks = columns.map(() => "?").join(", ");
      this.#exec(
        `INSERT INTO "${table}" (${names}) VALUES (${marks})${KEPT_TABLES.has(table) ? " ON CONFLICT DO NOTHING" : ""}`,
        ...columns.map((name) => asBinding(row[name])),
      );
    }
  }

  #endRuns(): void {
    const { running } = this.#state.queue();
    if (running === undefined) return;
    const message = "the run was under way when the backup was made that has been restored";
    const finishedAt = new Date(this.#now()).toISOString();
    const error = { code: "restored", stage: running.checkpoint.stage, message };
    const ended = endedRecord(running, { state: "failed", finishedAt, patch: { error } });
    this.#state.saveRun({ ...ended, fence: running.fence + 1 }, true);
  }

  /** Records the restored catalog as a version of its own. */
  #publish(highest: number): number | null {
    const restored = this.#state.currentVersion();
    if (restored === null) return null;
    const versions = new Set(this.#state.versions().map(({ generation }) => generation));
    const { previous } = restored;
    const manifest: Manifest = {
      ...restored,
      generation: Math.max(highest, restored.generation) + 1,
      published_at: new Date(this.#now()).toISOString(),
      previous: previous !== null && versions.has(previous) ? previous : null,
    };
    this.#state.insertVersion(manifest);
    return manifest.generation;
  }

  #isHeldBy(by: string): boolean {
    const hold = this.#state.holdAt(this.#now());
    return hold?.by === by;
  }

  #tables(): string[] {
    return this.#exec("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")
      .map((row) => String(row["name"]))
      .filter((name) => !/^(sqlite_|_cf_|__)/.test(name) && !OWN_TABLES.has(name));
  }

  #columns(table: string): Set<string> {
    const rows = this.#exec("SELECT name FROM pragma_table_info(?)", table);
    return new Set(rows.map((row) => String(row["name"])));
  }

  #exec(query: string, ...bindings: (string | number | null)[]): SqlRow[] {
    return this.#storage.sql.exec(query, ...bindings).toArray();
  }
}

/** A line that a snapshot has given. Throws if it is something else. */
export function parseLine(line: string): StateLine {
  const value: unknown = JSON.parse(line);
  const { table, row } = value as { [name: string]: unknown }; // any JSON but null can be read so
  if (typeof table !== "string" || typeof row !== "object" || row === null)
    throw new Error("a line of the state has no table or no row");
  return { table, row: row as SqlRow }; // an object, as just seen
}

/** What lines of the state name in the stores. */
export interface StateContents {
  /** Retained versions, whatever their order. */
  readonly versions: readonly Manifest[];
  /** SHA-256 of archived upstream files that later runs may rely on. */
  readonly archived: readonly string[];
  /** Version of the Worker that published each generation, as far as runs remember. */
  readonly builtBy: readonly {
    readonly generation: number;
    readonly workerVersion: string | null;
  }[];
}

/** Reads what lines of the state name. Throws if a manifest among them cannot be used. */
export function readContents(lines: readonly string[]): StateContents {
  const rows = lines.map(parseLine);
  const texts = (table: string, column: string) =>
    rows.filter((line) => line.table === table).map(({ row }) => String(row[column]));
  const versions = texts("versions", "manifest").map((text) => {
    const parsed = parseManifest(text);
    if (!parsed.ok) throw new Error(`a version in the state: ${parsed.problem}`);
    return parsed.manifest;
  });
  const facts = rows.filter(
    ({ table, row }) => table === "facts" && String(row["name"]).startsWith("archived:"),
  );
  const archived = facts.flatMap(({ row }) => {
    const files: { [name: string]: { sha256: string } } = JSON.parse(String(row["value"]));
    return Object.values(files).map(({ sha256 }) => sha256);
  });
  const builtBy = texts("runs", "record").flatMap((text) => {
    const { run }: RunRecord = JSON.parse(text);
    const { generationAfter: generation, workerVersion } = run;
    return generation === null ? [] : [{ generation, workerVersion }];
  });
  return { versions, archived, builtBy };
}

function asBinding(value: unknown): string | number | null {
  if (value === null || typeof value === "string" || typeof value === "number") return value;
  throw new Error(`a row of the state holds a ${typeof value}`);
}
