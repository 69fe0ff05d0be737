import type { TableStorage } from "./tables.ts";

/**
 * The versions of a Durable Object's tables, in SQL: the first makes them, and each further one
 * changes those of the version before. One that was deployed never changes; a test has their hashes.
 */
export type ObjectSchema = readonly (readonly string[])[];

/** What is stored is of a version that this Worker cannot work with. Its message says what to do. */
export class OtherVersion extends Error {
  override readonly name = "OtherVersion";
}

/** Tables that belong to SQLite or to the platform. */
const OTHERS = "name LIKE 'sqlite\\_%' ESCAPE '\\' OR name LIKE '\\_%' ESCAPE '\\'";

/**
 * Brings the tables of a Durable Object to the last version of its schema.
 *
 * @param name of the object, for people.
 * @throws OtherVersion if they are of a later version, or were made before versions had numbers.
 */
export function migrate(storage: TableStorage, name: string, schema: ObjectSchema): void {
  const read = (query: string) => storage.sql.exec(query).toArray();
  storage.transactionSync(() => {
    const tables = read(`SELECT name FROM sqlite_master WHERE type = 'table' AND NOT (${OTHERS})`);
    if (tables.length === 0)
      storage.sql.exec("CREATE TABLE schema_version (version INTEGER NOT NULL)");
    else if (!tables.some((table) => table["name"] === "schema_version"))
      throw new OtherVersion(
        `The tables of the ${name} were made before they had a version. Delete what this service has stored, and deploy it anew; on your own machine: npm start -- --fresh`,
      );
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
