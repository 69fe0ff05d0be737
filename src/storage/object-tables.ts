import * as z from "zod";
import { timestamp } from "../schemas/fields.ts";
import type { Log } from "../platform/log.ts";
import { misfitOf, parseJson } from "../platform/parse-json.ts";
import { LAST_TIME_MS, timeText } from "../platform/time.ts";

/** The SQLite part of Durable Object storage; every call is synchronous. */
export interface TableStorage {
  readonly sql: {
    exec(query: string, ...bindings: (string | number | null)[]): { toArray(): SqlRow[] };
  };
  transactionSync<T>(work: () => T): T;
}

export type SqlRow = { readonly [column: string]: unknown };

/** A row that could not be read, and is no longer in its table. */
export const setAsideSchema = z
  .strictObject({
    table: z.string(),
    key: z.string(),
    at: timestamp.meta({ description: "When it was found." }),
    problem: z.string(),
    text: z.string().meta({ description: "The beginning of what was stored." }),
  })
  .meta({ id: "SetAside", description: "A stored value that could not be read." });
export type SetAside = Readonly<z.output<typeof setAsideSchema>>;

/** Such a row without its text. */
export const setAsideNotice = setAsideSchema.omit({ text: true });

/** Times that `timeText` can write, in milliseconds since 1970. */
export const storedTime = z.number().min(0).max(LAST_TIME_MS);

/** A row whose value is JSON. `column` is that of its key. */
interface JsonRow {
  readonly table: string;
  readonly column: string;
  readonly key: string | number;
  readonly text: unknown;
}

/** Most characters of a row, and of what is wrong with it, that are kept. */
const KEPT_CHARACTERS = 1_000;
/** Most rows that are kept; the log has all. */
const KEPT_ROWS = 100;
/** Of their keys in the table `facts`, which every Durable Object has. */
const PREFIX = "set_aside:";

/**
 * The tables of a Durable Object. Whatever they hold, they can be read: a row that is not what its
 * schema says is set aside, and read as if it were not there. Operators see what was set aside until
 * they forget it. Every method is synchronous.
 */
export class ObjectTables implements TableStorage {
  readonly sql: TableStorage["sql"];
  readonly #storage: TableStorage;
  readonly #log: Log;
  readonly #now: () => number;
  /** The rows that this instance has checked. It alone has written them since. */
  readonly #checked = new Set<string>();

  constructor(
    storage: TableStorage,
    { log, now }: { readonly log: Log; readonly now: () => number },
  ) {
    this.sql = storage.sql;
    this.#storage = storage;
    this.#log = log;
    this.#now = now;
  }

  transactionSync<T>(work: () => T): T {
    return this.#storage.transactionSync(work);
  }

  exec(query: string, ...bindings: (string | number | null)[]): SqlRow[] {
    return this.sql.exec(query, ...bindings).toArray();
  }

  /**
   * Reads the value of a row, and checks it the first time.
   *
   * @returns undefined if the row was set aside.
   */
  read(row: JsonRow, schema: z.ZodType): unknown {
    const name = `${row.table} ${row.key}`;
    const value = parseJson(String(row.text));
    const problem = this.#checked.has(name) ? null : problemOf(value, schema);
    if (problem === null) {
      this.#checked.add(name);
      return value;
    }
    this.#setAside(row, problem);
    return undefined;
  }

  /** Lists what was set aside. */
  setAside(): SetAside[] {
    const rows = this.exec("SELECT value FROM facts WHERE key LIKE ? || '%'", PREFIX);
    return rows.flatMap(({ value }) => {
      const found = setAsideSchema.safeParse(parseJson(String(value)));
      return found.success ? [found.data] : [];
    });
  }

  /** Deletes what was set aside. */
  forgetSetAside(): SetAside[] {
    const rows = this.setAside();
    this.exec("DELETE FROM facts WHERE key LIKE ? || '%'", PREFIX);
    return rows;
  }

  #setAside({ table, column, key, text }: JsonRow, problem: string): void {
    const found: SetAside = {
      table,
      key: String(key),
      at: timeText(this.#now()),
      problem: problem.slice(0, KEPT_CHARACTERS),
      text: String(text).slice(0, KEPT_CHARACTERS),
    };
    this.transactionSync(() => {
      this.exec(`DELETE FROM ${table} WHERE ${column} = ?`, key);
      this.exec(
        "INSERT OR REPLACE INTO facts (key, value) VALUES (?, ?)",
        `${PREFIX}${table} ${key}`,
        JSON.stringify(found),
      );
      this.exec(
        `DELETE FROM facts WHERE key LIKE ? || '%' AND key NOT IN (
          SELECT key FROM facts WHERE key LIKE ? || '%' ORDER BY rowid DESC LIMIT ?
        )`,
        PREFIX,
        PREFIX,
        KEPT_ROWS,
      );
    });
    this.#log("error", "value_set_aside", { ...found });
  }
}

function problemOf(value: unknown, schema: z.ZodType): string | null {
  return value === undefined ? "it is not JSON" : misfitOf(value, schema);
}
