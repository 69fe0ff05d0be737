import type { Config } from "drizzle-kit";

/** Migrations of D1: `npm run generate`. */
export default {
  dialect: "sqlite",
  schema: "src/storage/schema.ts",
  out: "migrations",
} satisfies Config;
