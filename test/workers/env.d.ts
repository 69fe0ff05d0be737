declare namespace Cloudflare {
  interface Env {
    /** Migrations of the database HISTORY; bound by `test/vitest.config.ts`. */
    MIGRATIONS: import("cloudflare:test").D1Migration[];
  }
}
