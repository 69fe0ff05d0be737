/** Copies the tables of D1, whatever their columns. */
import { getTableName } from "drizzle-orm";
import { bounded, CALL_DEADLINE_MS } from "../platform/deadline.ts";
import * as schema from "./schema.ts";

export type Value = string | number | null;
type Row = { readonly [column: string]: Value };

interface Column {
  readonly name: string;
  /** Whether the column is NOT NULL without a default. */
  readonly required: boolean;
}

export interface TableShape {
  readonly name: string;
  readonly columns: readonly Column[];
  /** Columns of the primary key, in order. */
  readonly key: readonly string[];
}

export type DatabaseCopy = ReturnType<typeof createDatabaseCopy>;

/** The tables of the service. An operator may keep other tables beside them. */
const SERVICE_TABLES = Object.values(schema).map(getTableName);
/** Maximum size of rows in one statement in bytes; D1 accepts strings of up to 2 MB. */
const STATEMENT_BYTES = 512 * 1024;

export function createDatabaseCopy(d1: D1Database, wanted: readonly string[] = SERVICE_TABLES) {
  const names = async () => {
    const { results } = await d1
      .prepare("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")
      .all<{ name: string }>();
    return results.map(({ name }) => name);
  };
  return bounded("D1", CALL_DEADLINE_MS, {
    /** Lists the tables of the service by name, except those that D1 lacks. */
    async tables(): Promise<TableShape[]> {
      const tables = (await names()).filter((name) => wanted.includes(name));
      return Promise.all(tables.map((name) => readShape(d1, name)));
    },

    /** Reads rows after the given key, in key order. */
    async readPage(
      { name, columns, key }: TableShape,
      after: readonly Value[] | null,
      limit: number,
    ): Promise<Row[]> {
      const list = columns.map((column) => quote(column.name)).join(", ");
      const order = key.map(quote).join(", ");
      const marks = key.map(() => "?").join(", ");
      const where = after === null ? "" : `WHERE (${order}) > (${marks})`;
      const { results } = await d1
        .prepare(`SELECT ${list} FROM ${quote(name)} ${where} ORDER BY ${order} LIMIT ?`)
        .bind(...(after ?? []), limit)
        .all();
      return results.map((row) => asRow(name, row));
    },

    /** Adds rows. A row whose key exists already stays as it is. */
    async addRows(table: string, columns: readonly string[], rows: readonly Row[]): Promise<void> {
      const list = columns.map(quote).join(", ");
      const values = columns.map((_, index) => `json_extract(value, '$[${index}]')`).join(", ");
      const insert = d1.prepare(
        `INSERT OR IGNORE INTO ${quote(table)} (${list}) SELECT ${values} FROM json_each(?)`,
      );
      for (const text of inChunks(rows, columns)) await insert.bind(text).run();
    },
  });
}

async function readShape(d1: D1Database, name: string): Promise<TableShape> {
  const { results } = await d1
    .prepare(`PRAGMA table_info(${quote(name)})`)
    .all<{ name: string; notnull: number; dflt_value: string | null; pk: number }>();
  const key = results.filter(({ pk }) => pk > 0).toSorted((a, b) => a.pk - b.pk);
  return {
    name,
    columns: results.map((column) => ({
      name: column.name,
      required: column.notnull !== 0 && column.dflt_value === null,
    })),
    key: key.map((column) => column.name),
  };
}

/** Serializes rows to JSON arrays that each fit into one statement. */
function* inChunks(rows: readonly Row[], columns: readonly string[]): Generator<string> {
  let texts: string[] = [];
  let bytes = 0;
  for (const row of rows) {
    const text = JSON.stringify(columns.map((column) => row[column] ?? null));
    texts.push(text);
    bytes += text.length;
    if (bytes < STATEMENT_BYTES) continue;
    yield `[${texts.join(",")}]`;
    texts = [];
    bytes = 0;
  }
  if (texts.length > 0) yield `[${texts.join(",")}]`;
}

function asRow(table: string, row: Record<string, unknown>): Row {
  for (const [column, value] of Object.entries(row))
    if (value !== null && typeof value !== "string" && typeof value !== "number")
      throw new Error(`${table}.${column} holds a ${typeof value}, which has no form in a backup`);
  return row as Row; // the loop has checked each value
}

function quote(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}
