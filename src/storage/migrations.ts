/** A file of migrations/. */
export interface Migration {
  readonly name: string;
  readonly sql: string;
}

/** Wrangler's table, so that `wrangler d1 migrations` knows which migrations were applied here. */
export const APPLIED =
  "CREATE TABLE IF NOT EXISTS d1_migrations (id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT UNIQUE, applied_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP NOT NULL)";

type Database = Pick<D1Database, "prepare" | "batch">;

/**
 * Applies the migrations that D1 lacks, each in one transaction with its record. Replaces the tables
 * that D1 has lost by empty ones. Throws if D1 fails, and may throw for one of two concurrent callers;
 * a repeated call continues.
 *
 * @returns the names of the lost tables, and whether D1 had no migration, because it is new or has lost
 * all.
 */
export async function applyMigrations(
  d1: Database,
  migrations: readonly Migration[],
): Promise<{ readonly lost: readonly string[]; readonly wasEmpty: boolean }> {
  const [, list, tables] = await d1.batch<{ name: string }>([
    d1.prepare(APPLIED),
    d1.prepare("SELECT name FROM d1_migrations"),
    d1.prepare(TABLES),
  ]);
  const applied = new Set(list?.results.map(({ name }) => name));
  const present = new Set(tables?.results.map(({ name }) => name));
  const former = statementsOf(migrations.filter(({ name }) => applied.has(name)));
  const lost = former.flatMap(({ sql, table }) =>
    table === undefined || present.has(table) ? [] : [{ sql, table }],
  );
  if (lost.length > 0) await d1.batch(lost.map(({ sql }) => d1.prepare(sql)));
  for (const migration of migrations.filter(({ name }) => !applied.has(name)))
    await d1.batch([
      ...migration.sql.split(BREAKPOINT).map((sql) => d1.prepare(sql)),
      d1.prepare("INSERT INTO d1_migrations (name) VALUES (?)").bind(migration.name),
    ]);
  return { lost: [...new Set(lost.map(({ table }) => table))], wasEmpty: applied.size === 0 };
}

/** Whether a call of D1 has failed because a table is missing. */
export function isTableMissing(cause: unknown): boolean {
  if (!(cause instanceof Error)) return false;
  return cause.message.includes("no such table: ") || isTableMissing(cause.cause);
}

/** D1 answers, but lacks tables. */
export class TablesMissing extends Error {
  override readonly name = "TablesMissing";

  constructor(tables: readonly string[]) {
    super(
      `D1 lacks ${tables.join(", ")}; the coordinator makes the tables within five minutes, and a restored backup brings back their rows, except the audit`,
    );
  }
}

/** Throws TablesMissing if D1 lacks tables of the migrations, and otherwise if D1 fails. */
export async function checkTables(
  d1: Pick<Database, "prepare">,
  migrations: readonly Migration[],
): Promise<void> {
  const { results } = await d1.prepare(TABLES).all<{ name: string }>();
  const present = new Set(results.map(({ name }) => name));
  const named = new Set(statementsOf(migrations).flatMap(({ table }) => table ?? []));
  const missing = [...named].filter((table) => !present.has(table));
  if (missing.length > 0) throw new TablesMissing(missing);
}

const TABLES = "SELECT name FROM sqlite_master WHERE type = 'table'";

interface Statement {
  readonly sql: string;
  /** The table that the statement makes or changes; undefined if it does neither. */
  readonly table: string | undefined;
}

const BREAKPOINT = "--> statement-breakpoint";

/** The statements of migrations, without those about tables that a later migration drops. */
function statementsOf(migrations: readonly Migration[]): Statement[] {
  const texts = migrations.flatMap(({ sql }) => sql.split(BREAKPOINT));
  const dropped = new Set(texts.map((text) => /DROP TABLE `?(\w+)/.exec(text)?.[1]));
  return texts
    .map((sql) => ({ sql, table: /(?:CREATE TABLE|ALTER TABLE| ON) `?(\w+)`?/.exec(sql)?.[1] }))
    .filter(({ table }) => !dropped.has(table) || table === undefined);
}
