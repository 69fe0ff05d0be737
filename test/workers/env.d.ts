declare namespace Cloudflare {
  interface Env {
    /** Migrations of the database HISTORY; bound by `vitest.config.ts`. */
    MIGRATIONS: import("cloudflare:test").D1Migration[];
  }
}
