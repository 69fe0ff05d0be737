import { readdirSync, readFileSync } from "node:fs";

/** The part of D1 that migrations need. */
interface Database {
  prepare(query: string): { run(): Promise<unknown> };
}

/** Brings an empty database to the present schema. */
export async function applyMigrations(database: Database): Promise<void> {
  const files = readdirSync("migrations").filter((name) => name.endsWith(".sql"));
  for (const file of files.toSorted())
    for (const statement of readFileSync(`migrations/${file}`, "utf8").split(
      "--> statement-breakpoint",
    ))
      await database.prepare(statement).run();
}
