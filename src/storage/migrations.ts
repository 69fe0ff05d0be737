/** A file of migrations/. */
export interface Migration {
  readonly name: string;
  readonly sql: string;
}

/** As wrangler keeps it, so that `wrangler d1 migrations` knows what was applied here. */
const APPLIED =
  "CREATE TABLE IF NOT EXISTS d1_migrations (id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT UNIQUE, applied_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP NOT NULL)";

/**
 * Applies the migrations that D1 lacks, each in one transaction with its record. Throws if D1 fails;
 * of two callers at once one may, and a repeated call goes on.
 */
export async function applyMigrations(
  d1: Pick<D1Database, "prepare" | "batch">,
  migrations: readonly Migration[],
): Promise<void> {
  const [, list] = await d1.batch<{ name: string }>([
    d1.prepare(APPLIED),
    d1.prepare("SELECT name FROM d1_migrations"),
  ]);
  const applied = new Set(list?.results.map(({ name }) => name));
  for (const { name, sql } of migrations.filter((migration) => !applied.has(migration.name)))
    await d1.batch([
      ...sql.split("--> statement-breakpoint").map((statement) => d1.prepare(statement)),
      d1.prepare("INSERT INTO d1_migrations (name) VALUES (?)").bind(name),
    ]);
}
