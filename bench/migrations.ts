import { readdirSync, readFileSync } from "node:fs";
import { applyMigrations } from "../src/storage/migrations.ts";

/** Brings an empty database to the present schema, before the coordinator does. */
export async function createTables(database: Parameters<typeof applyMigrations>[0]): Promise<void> {
  const names = readdirSync("migrations").filter((name) => name.endsWith(".sql"));
  const read = (name: string) => ({ name, sql: readFileSync(`migrations/${name}`, "utf8") });
  await applyMigrations(database, names.toSorted().map(read));
}
