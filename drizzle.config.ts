import { defineConfig } from "drizzle-kit";

/** Migrations of D1: `npm run generate`. */
export default defineConfig({
  dialect: "sqlite",
  schema: "src/storage/schema.ts",
  out: "migrations",
});
