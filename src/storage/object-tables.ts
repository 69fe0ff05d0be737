import * as z from "zod";
import { timestamp } from "../schemas/fields.ts";
import { changeTimes, storedTimes } from "../schemas/stored-times.ts";
import type { Log } from "../platform/log.ts";
import { misfitOf, parseJson } from "../platform/parse-json.ts";
import { CLOCK_SKEW_MS, cutToNow, isFuture, LAST_TIME_MS, timeText } from "../platform/time.ts";
import type { DurationMs, EpochMs } from "../platform/units.ts";

/** The SQLite part of Durable Object storage; every call is synchronous. */
export interface TableStorage {
  readonly sql: {
    exec(query: string, ...bindings: (string | number | null)[]): { toArray(): SqlRow[] };
  };
  transactionSync<T>(work: () => T): T;
}

export type SqlRow = { readonly [column: string]: unknown };

/** A row that could not be read and was deleted, or that was dated in the future. */
export const setAsideSchema = z
  .strictObject({
    table: z.string(),
    key: z.string(),
    at: timestamp.meta({ description: "When it was found." }),
    problem: z.string(),
    text: z.string().meta({ description: "The start of the stored value." }),
  })
  .meta({
    id: "SetAside",
    description:
      "A stored value that could not be read, or that was dated in the future and now has the present date.",
  });
export type SetAside = Readonly<z.output<typeof setAsideSchema>>;

/** Such a row without its text. */
export const setAsideNotice = setAsideSchema.omit({ text: true });

/** Times in the past that `timeText` can write. */
export const storedTime = timeWithin(0);

/** Times at most `toleranceMs` in the future. */
export function timeWithin(toleranceMs: DurationMs) {
  return z.number().min(0).max(LAST_TIME_MS).register(storedTimes, { toleranceMs });
}

/** A row with a JSON value. `column` and `field` are those of its key and value. */
interface JsonRow {
  readonly table: string;
  readonly column: string;
  readonly key: string | number;
  /** Absent for a record, such as a version or an audit entry, which keeps its times. */
  readonly field?: string;
  readonly text: unknown;
}

/** Maximum number of characters of a row and of its problem that are kept. */
const KEPT_CHARACTERS = 1_000;
/** The highest number of a row in a table that counts them. Far below the limit of JavaScript's integers. */
const SEQ_MAX = 900_000_000;
const KEPT_ROWS = 100;
/** Their key in the table `single_values`, which every Durable Object has. */
const PREFIX = "set_aside:";

/**
 * The tables of a Durable Object. They are readable whatever they hold: a row that does not fit its
 * schema is set aside and counts as absent; a time in the future becomes now. Operators see both until
 * they forget them. Every method is synchronous.
 */
export class ObjectTables implements TableStorage {
  readonly sql: TableStorage["sql"];
  readonly #storage: TableStorage;
  readonly #log: Log;
  readonly now: () => EpochMs;
  /** The rows that this instance has checked. It alone has written them since. */
  readonly #checked = new Set<string>();
  #usedAt = 0;

  constructor(
    storage: TableStorage,
    { log, now }: { readonly log: Log; readonly now: () => EpochMs },
  ) {
    this.sql = storage.sql;
    this.#storage = storage;
    this.#log = log;
    this.now = now;
  }

  transactionSync<T>(work: () => T): T {
    return this.#storage.transactionSync(work);
  }

  exec(query: string, ...bindings: (string | number | null)[]): SqlRow[] {
    const now = this.now();
    // After the clock was set back, rows that this instance has written may be in the future.
    if (now < this.#usedAt - CLOCK_SKEW_MS) this.#checked.clear();
    this.#usedAt = now;
    return this.sql.exec(query, ...bindings).toArray();
  }

  /**
   * Reads the value of a row, and checks it the first time.
   *
   * @param schemaOf makes the schema, which may cost more than the reading.
   * @returns undefined if the row was set aside.
   */
  read(row: JsonRow, schemaOf: () => z.ZodType): unknown {
    const name = `${row.table} ${row.key}`;
    const value = parseJson(String(row.text));
    if (this.#checked.has(name)) return value;
    const schema = schemaOf();
    const problem = value === undefined ? "it is not JSON" : misfitOf(value, schema);
    if (problem !== null) return this.#replace(row, undefined, problem);
    this.#checked.add(name);
    if (row.field === undefined) return value;
    const now = this.now();
    const cut = changeTimes(schema, value, (time, toleranceMs) => cutToNow(time, now, toleranceMs));
    if (JSON.stringify(cut) === JSON.stringify(value)) return value;
    return this.#replace(row, cut, "it was dated in the future: a clock was wrong");
  }

  /** Sets the rows aside whose key is none of the numbers from 1 to `most`. */
  removeBeyond(table: string, column: string, valueColumn: string, most: number): void {
    // As text: not every stored number is one of JavaScript.
    const rows = this.exec(
      `SELECT CAST(${column} AS TEXT) AS key, ${valueColumn} AS text FROM ${table} WHERE ${column} NOT BETWEEN 1 AND ?`,
      most,
    );
    for (const { key, text } of rows)
      this.#replace(
        { table, column, key: String(key), text },
        undefined,
        "its key is out of range",
      );
  }

  /** Renumbers the rows of a table, in their order, if a number is too high to be increased for ever. */
  renumber(table: string): void {
    const beyond = this.exec(
      `SELECT 1 FROM (SELECT seq FROM ${table} UNION ALL SELECT seq FROM sqlite_sequence WHERE name = ?)
        WHERE seq NOT BETWEEN 0 AND ? LIMIT 1`,
      table,
      SEQ_MAX,
    );
    if (beyond.length === 0) return;
    this.transactionSync(() => {
      this.exec(
        `UPDATE ${table} SET seq = -place FROM (SELECT seq AS old, row_number() OVER (ORDER BY seq) AS place FROM ${table}) WHERE seq = old`,
      );
      this.exec(`UPDATE ${table} SET seq = -seq`);
      this.exec(
        `UPDATE sqlite_sequence SET seq = (SELECT coalesce(max(seq), 0) FROM ${table}) WHERE name = ?`,
        table,
      );
    });
  }

  setAside(): SetAside[] {
    const rows = this.exec("SELECT value FROM single_values WHERE key LIKE ? || '%'", PREFIX);
    return rows.flatMap(({ value }) => {
      const found = setAsideSchema.safeParse(parseJson(String(value)));
      return found.success ? [found.data] : [];
    });
  }

  forgetSetAside(): SetAside[] {
    const rows = this.setAside();
    this.exec("DELETE FROM single_values WHERE key LIKE ? || '%'", PREFIX);
    return rows;
  }

  /** Replaces a row's value, or deletes the row, and notifies operators. */
  #replace(row: JsonRow, value: unknown, problem: string): unknown {
    const { table, column, field, key, text } = row;
    const found: SetAside = {
      table,
      key: String(key),
      at: timeText(this.now()),
      problem: problem.slice(0, KEPT_CHARACTERS),
      text: String(text).slice(0, KEPT_CHARACTERS),
    };
    // One notice for each table, because a wrong clock dates many of its rows.
    const notice = value === undefined ? `${PREFIX}${table} ${key}` : `${PREFIX}${table}`;
    this.transactionSync(() => {
      if (value === undefined) this.exec(`DELETE FROM ${table} WHERE ${column} = ?`, key);
      else
        this.exec(
          `UPDATE ${table} SET ${field} = ? WHERE ${column} = ?`,
          JSON.stringify(value),
          key,
        );
      this.exec(
        "INSERT OR REPLACE INTO single_values (key, value) VALUES (?, ?)",
        notice,
        JSON.stringify(found),
      );
      this.exec(
        `DELETE FROM single_values WHERE key LIKE ? || '%' AND key NOT IN (
          SELECT key FROM single_values WHERE key LIKE ? || '%' ORDER BY rowid DESC LIMIT ?
        )`,
        PREFIX,
        PREFIX,
        KEPT_ROWS,
      );
    });
    this.#log("error", "value_set_aside", { ...found });
    return value;
  }
}

/** JSON values by key. Every method is synchronous. */
export class JsonTable<Rows extends object> {
  readonly #tables: ObjectTables;
  readonly #name: string;
  readonly #schemaOf: (key: string) => z.ZodType;

  /** @param name an identifier of SQL. */
  constructor(tables: ObjectTables, name: string, schemaOf: (key: string) => z.ZodType) {
    this.#tables = tables;
    this.#name = name;
    this.#schemaOf = schemaOf;
  }

  /** Returns a value; null if it was never set. `otherwise` replaces one that cannot be read. */
  get<Key extends string & keyof Rows>(
    key: Key,
    otherwise: () => Rows[Key] | null = () => null,
  ): Rows[Key] | null {
    const [row] = this.#exec(`SELECT value FROM ${this.#name} WHERE key = ?`, key);
    if (row === undefined) return null;
    const value = this.#read(key, row["value"]);
    if (value !== undefined) return value;
    const replacement = otherwise();
    this.set(key, replacement);
    return replacement;
  }

  /** Sets a value; null deletes it. */
  set<Key extends string & keyof Rows>(key: Key, value: Rows[Key] | null): void {
    if (value === null) this.#exec(`DELETE FROM ${this.#name} WHERE key = ?`, key);
    else {
      const text = JSON.stringify(value);
      this.#exec(`INSERT OR REPLACE INTO ${this.#name} (key, value) VALUES (?, ?)`, key, text);
    }
  }

  /** Lists the entries with a prefix, in order of their keys. */
  entries<Key extends string & keyof Rows>(prefix = ""): [key: Key, value: Rows[Key]][] {
    const query = `SELECT key, value FROM ${this.#name} WHERE substr(key, 1, ?) = ? ORDER BY key`;
    return this.#exec(query, prefix.length, prefix).flatMap((row): [Key, Rows[Key]][] => {
      const key = String(row["key"]) as Key; // only `set` writes
      const value = this.#read(key, row["value"]);
      return value === undefined ? [] : [[key, value]];
    });
  }

  clear(): void {
    this.#exec(`DELETE FROM ${this.#name}`);
  }

  #read<Key extends string & keyof Rows>(key: Key, text: unknown): Rows[Key] | undefined {
    const row = { table: this.#name, column: "key", key, field: "value", text };
    return this.#tables.read(row, () => this.#schemaOf(key)) as Rows[Key] | undefined; // by the schema
  }

  #exec(query: string, ...bindings: (string | number | null)[]): SqlRow[] {
    return this.#tables.exec(query, ...bindings);
  }
}

/** Number of remembered ticks of each cron trigger, so that a repeated tick counts once. */
const TICKS_KEPT = 100;

/**
 * The cron ticks that an object has accepted, newest first. Forgets ticks in the future, which a wrong
 * clock has dated.
 */
export class TickTable {
  readonly #tables: ObjectTables;
  readonly #table: JsonTable<{ readonly [cron: string]: readonly EpochMs[] }>;

  constructor(tables: ObjectTables) {
    this.#tables = tables;
    this.#table = new JsonTable(tables, "ticks", () => z.array(timeWithin(Infinity)));
  }

  /** @param at scheduled time of the tick. */
  has(cron: string, at: EpochMs): boolean {
    return this.#known(cron).includes(at);
  }

  /** Remembers a tick, and returns whether it is new. */
  add(cron: string, at: EpochMs): boolean {
    const known = this.#known(cron);
    if (known.includes(at)) return false;
    this.#table.set(cron, [at, ...known].slice(0, TICKS_KEPT));
    return true;
  }

  /** Returns the scheduled time of the newest tick of each cron trigger. */
  newest(): { readonly [cron: string]: EpochMs } {
    const known = this.#table.entries().map(([cron]) => [cron, this.#known(cron)] as const);
    const taken = known.filter(([, ticks]) => ticks.length > 0);
    return Object.fromEntries(taken.map(([cron, ticks]) => [cron, Math.max(...ticks)]));
  }

  #known(cron: string): readonly EpochMs[] {
    const ticks = this.#table.get(cron) ?? [];
    return ticks.filter((at) => !isFuture(at, this.#tables.now()));
  }
}

/**
 * The versions of a Durable Object's tables, in SQL: the first makes them, and each further one changes
 * those of the previous version. A deployed version never changes; a test has their hashes.
 */
export type ObjectSchema = readonly (readonly string[])[];

/** This Worker cannot use the version of the tables. The message says what to do. */
export class OtherVersion extends Error {
  override readonly name = "OtherVersion";
}

/**
 * Brings the tables of a Durable Object to the last version of its schema.
 *
 * @param name of the object, for people.
 * @throws OtherVersion if they are of a later version.
 */
export function migrate(storage: TableStorage, name: string, schema: ObjectSchema): void {
  const read = (query: string) => storage.sql.exec(query).toArray();
  storage.transactionSync(() => {
    storage.sql.exec("CREATE TABLE IF NOT EXISTS schema_version (version INTEGER NOT NULL)");
    const stored = read("SELECT MAX(version) AS version FROM schema_version")[0]?.["version"];
    const version = Number(stored ?? 0);
    if (version > schema.length)
      throw new OtherVersion(
        `The tables of the ${name} have version ${version}, and this Worker knows versions up to ${schema.length}. Deploy the newer Worker again.`,
      );
    for (const [index, statements] of schema.entries()) {
      if (index < version) continue;
      for (const statement of statements) storage.sql.exec(statement);
      storage.sql.exec("INSERT INTO schema_version (version) VALUES (?)", index + 1);
    }
  });
}
