import { DatabaseSync, type StatementSync } from "node:sqlite";
import type { TableStorage } from "../../src/storage/object-tables.ts";

/** SQLite in memory, as a Durable Object has it: transactions roll back, also nested ones. */
export class MemoryTables implements TableStorage {
  readonly database = new DatabaseSync(":memory:");
  readonly #statements = new Map<string, StatementSync>();
  #depth = 0;

  readonly sql: TableStorage["sql"] = {
    exec: (query, ...bindings) => {
      const rows = this.#prepare(query).all(...bindings);
      return { toArray: () => rows };
    },
  };

  transactionSync<T>(work: () => T): T {
    const name = `depth${this.#depth++}`;
    this.database.exec(`SAVEPOINT ${name}`);
    try {
      const result = work();
      this.database.exec(`RELEASE ${name}`);
      return result;
    } catch (error) {
      this.database.exec(`ROLLBACK TO ${name}; RELEASE ${name}`);
      throw error;
    } finally {
      this.#depth--;
    }
  }

  #prepare(query: string): StatementSync {
    const known = this.#statements.get(query);
    if (known !== undefined) return known;
    const statement = this.database.prepare(query);
    this.#statements.set(query, statement);
    return statement;
  }
}
