/** The part of Durable Object storage that tables need: SQLite, called synchronously. */
export interface TableStorage {
  readonly sql: {
    exec(query: string, ...bindings: (string | number | null)[]): { toArray(): SqlRow[] };
  };
  transactionSync<T>(work: () => T): T;
}

export type SqlRow = { readonly [column: string]: unknown };
