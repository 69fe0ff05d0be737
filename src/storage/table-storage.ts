/** The SQLite part of Durable Object storage; every call is synchronous. */
export interface TableStorage {
  readonly sql: {
    exec(query: string, ...bindings: (string | number | null)[]): { toArray(): SqlRow[] };
  };
  transactionSync<T>(work: () => T): T;
}

export type SqlRow = { readonly [column: string]: unknown };
