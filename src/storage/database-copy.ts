/**
 * Copies D1 out and back in, whatever its tables are. Rows that are put back wait in tables of
 * their own, until one batch replaces all of them at once.
 */

/** A value as D1 hands it out. */
export type Value = string | number | null;
export type Row = { readonly [column: string]: Value };

export interface Column {
  readonly name: string;
  /** Whether a row must have it. */
  readonly required: boolean;
}

/** A table and what is to be known to copy it. */
export interface TableShape {
  readonly name: string;
  readonly columns: readonly Column[];
  /** Columns of the primary key, in order. */
  readonly key: readonly string[];
}

export interface DatabaseCopy {
  /** All tables but those of SQLite, D1 and this module itself, by name. */
  tables(): Promise<TableShape[]>;
  /** Rows after the one with these values of the key, in order of the key. */
  readPage(table: TableShape, after: readonly Value[] | null, limit: number): Promise<Row[]>;
  /** Makes empty tables for rows that are to be put back, in place of any that there are. */
  beginRestore(tables: readonly string[]): Promise<void>;
  /** Adds rows to those that wait; a row that waits already is replaced. */
  stageRows(table: string, columns: readonly string[], rows: readonly Row[]): Promise<void>;
  /**
   * Puts the waiting rows in the place of all there are, in one batch for all tables. `kept` tables
   * keep the rows that they have. Does nothing if no rows wait, so that it may be repeated.
   */
  finishRestore(tables: readonly StagedTable[]): Promise<void>;
  /** Drops whatever waits. */
  abandonRestore(): Promise<void>;
}

export interface StagedTable {
  readonly name: string;
  readonly columns: readonly string[];
  /** Keep present rows, and add those that are missing. */
  readonly keep: boolean;
}

/** What the names of tables begin with whose rows wait to be put back. */
const STAGING = "restoring__";
/** Tables whose names begin so belong to SQLite, to D1, or to this module. */
const OTHERS = ["sqlite_", "_cf_", "d1_", STAGING];
/** Bytes of rows in one statement; D1 takes strings of up to 2 MB. */
const STATEMENT_BYTES = 512 * 1024;

export function createDatabaseCopy(d1: D1Database): DatabaseCopy {
  const names = async () => {
    const { results } = await d1
      .prepare("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")
      .all<{ name: string }>();
    return results.map(({ name }) => name);
  };
  return {
    async tables() {
      const own = (await names()).filter((name) => !OTHERS.some((other) => name.startsWith(other)));
      return Promise.all(own.map((name) => readShape(d1, name)));
    },

    async readPage({ name, columns, key }, after, limit) {
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

    async beginRestore(tables) {
      const statements: D1PreparedStatement[] = [];
      for (const name of tables) {
        statements.push(d1.prepare(`DROP TABLE IF EXISTS ${quote(STAGING + name)}`));
        statements.push(d1.prepare(await stagingDefinition(d1, name)));
      }
      if (statements.length > 0) await d1.batch(statements);
    },

    async stageRows(table, columns, rows) {
      const list = columns.map(quote).join(", ");
      const values = columns.map((_, index) => `json_extract(value, '$[${index}]')`).join(", ");
      const insert = d1.prepare(
        `INSERT OR REPLACE INTO ${quote(STAGING + table)} (${list}) SELECT ${values} FROM json_each(?)`,
      );
      for (const text of inChunks(rows, columns)) await insert.bind(text).run();
    },

    async finishRestore(tables) {
      const waiting = new Set(await names());
      const staged = tables.filter(({ name }) => waiting.has(STAGING + name));
      const statements = staged.flatMap(({ name, columns, keep }) => {
        const list = columns.map(quote).join(", ");
        const from = `SELECT ${list} FROM ${quote(STAGING + name)}`;
        return [
          ...(keep ? [] : [`DELETE FROM ${quote(name)}`]),
          `INSERT ${keep ? "OR IGNORE " : ""}INTO ${quote(name)} (${list}) ${from}`,
          `DROP TABLE ${quote(STAGING + name)}`,
        ];
      });
      if (statements.length > 0) await d1.batch(statements.map((text) => d1.prepare(text)));
    },

    async abandonRestore() {
      const waiting = (await names()).filter((name) => name.startsWith(STAGING));
      if (waiting.length > 0)
        await d1.batch(waiting.map((name) => d1.prepare(`DROP TABLE ${quote(name)}`)));
    },
  };
}

async function readShape(d1: D1Database, name: string): Promise<TableShape> {
  const { results } = await d1
    .prepare(`PRAGMA table_info(${quote(name)})`)
    .all<{ name: string; notnull: number; dflt_value: string | null; pk: number }>();
  const key = results.filter(({ pk }) => pk > 0).toSorted((a, b) => a.pk - b.pk);
  if (key.length === 0) throw new Error(`the table ${name} has no primary key to copy it by`);
  return {
    name,
    columns: results.map((column) => ({
      name: column.name,
      required: column.notnull !== 0 && column.dflt_value === null,
    })),
    key: key.map((column) => column.name),
  };
}

/** The statement that made a table, for its staging table. */
async function stagingDefinition(d1: D1Database, name: string): Promise<string> {
  const found = await d1
    .prepare("SELECT sql FROM sqlite_master WHERE type = 'table' AND name = ?")
    .bind(name)
    .first<{ sql: string }>();
  const [, rest] =
    /^CREATE TABLE\s+(?:`[^`]+`|"[^"]+"|\w+)\s*(\([\s\S]*)$/i.exec(found?.sql ?? "") ?? [];
  if (rest === undefined) throw new Error(`the table ${name} cannot be copied: ${found?.sql}`);
  return `CREATE TABLE ${quote(STAGING + name)} ${rest}`;
}

/** JSON arrays of rows as arrays, each of a length that a statement can take. */
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
  return row as Row; // each value was just looked at
}

/** A name as SQL takes it, whatever it consists of. */
function quote(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}
