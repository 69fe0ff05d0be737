import { readdirSync, readFileSync } from "node:fs";
import { DatabaseSync, type StatementSync } from "node:sqlite";
import { APPLIED, type Migration } from "../../src/storage/migrations.ts";

/** All files of migrations/, as the Worker's bundle has them. */
export const MIGRATIONS: readonly Migration[] = readdirSync("migrations")
  .filter((name) => name.endsWith(".sql"))
  .toSorted()
  .map((name) => ({ name, sql: readFileSync(`migrations/${name}`, "utf8") }));

type Binding = string | number | null;

interface Statement {
  readonly query: string;
  readonly bindings: readonly Binding[];
  bind(...bindings: Binding[]): Statement;
  all(): Promise<{ results: object[]; meta: object }>;
  first(): Promise<object | null>;
  run(): Promise<{ results: object[]; meta: object }>;
  raw(): Promise<unknown[]>;
}

/** D1 over SQLite in memory, as far as it is used here; a batch is a transaction. */
export class MemoryD1 {
  readonly database = new DatabaseSync(":memory:");
  readonly calls: string[] = [];
  readonly #statements = new Map<string, StatementSync>();
  /** Its errors are the database's. */
  before: (call: string) => void | Promise<void> = () => {};

  /** A database to which all migrations were applied. */
  static migrated(): MemoryD1 {
    const d1 = new MemoryD1();
    d1.database.exec(APPLIED);
    for (const { name, sql } of MIGRATIONS) {
      d1.database.exec(sql);
      d1.database.prepare("INSERT INTO d1_migrations (name) VALUES (?)").run(name);
    }
    return d1;
  }

  /** As the adapters take it. */
  get binding(): D1Database {
    return this as unknown as D1Database; // the adapters use no more than there is here
  }

  prepare(query: string): Statement {
    return this.#statement(query, []);
  }

  async batch(statements: readonly Statement[]): Promise<object[]> {
    await this.#enter("batch");
    this.database.exec("SAVEPOINT batch");
    try {
      const results = statements.map((statement) => ({ results: this.#rows(statement) }));
      this.database.exec("RELEASE batch");
      return results;
    } catch (error) {
      this.database.exec("ROLLBACK TO batch; RELEASE batch");
      throw error;
    }
  }

  #statement(query: string, bindings: readonly Binding[]): Statement {
    const run = async () => {
      await this.#enter(query);
      return { results: this.#rows({ query, bindings }), meta: {} };
    };
    return {
      query,
      bindings,
      bind: (...more) => this.#statement(query, more),
      all: run,
      raw: async () => {
        await this.#enter(query);
        const statement = this.database.prepare(query);
        statement.setReturnArrays(true);
        return statement.all(...bindings);
      },
      run,
      first: async () => (await run()).results[0] ?? null,
    };
  }

  #rows({ query, bindings }: Pick<Statement, "query" | "bindings">): object[] {
    return this.#prepare(query).all(...bindings);
  }

  #prepare(query: string): StatementSync {
    const known = this.#statements.get(query);
    if (known !== undefined) return known;
    const statement = this.database.prepare(query);
    this.#statements.set(query, statement);
    return statement;
  }

  async #enter(call: string): Promise<void> {
    this.calls.push(call);
    await this.before(call);
  }
}
