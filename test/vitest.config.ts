import { dirname } from "node:path";
import { cloudflareTest, readD1Migrations } from "@cloudflare/vitest-pool-workers";
import { defineConfig } from "vitest/config";
import { adminTokens } from "./builders/admin-tokens.ts";
import { fuzzSettings } from "./fuzz-settings.ts";

const root = `${dirname(import.meta.dirname)}/`;

// Read as the value of the required secret; only a binding would still be warned about.
process.env.ADMIN_TOKENS = adminTokens();

const fuzz = fuzzSettings(process.env);

/** They end what hangs, and nothing else: on a busy machine a test of milliseconds takes seconds. */
const HANG_BOUNDS = { testTimeout: 120_000, hookTimeout: 120_000 };

const browserProject = {
  root,
  test: {
    name: "browser",
    include: ["test/browser/**/*.test.ts"],
    globalSetup: ["test/system/running-service.ts"],
    testTimeout: 300_000,
    hookTimeout: 180_000,
    fileParallelism: false,
  },
};

export default defineConfig({
  root,
  test: {
    projects: [
      {
        root,
        test: {
          name: "node",
          provide: { fuzz },
          include: ["test/node/**/*.test.ts"],
          ...HANG_BOUNDS,
        },
      },
      {
        root,
        plugins: [
          cloudflareTest(async () => ({
            wrangler: { configPath: `${root}wrangler.toml` },
            miniflare: {
              bindings: {
                LOCALES: "en,de,ja",
                MIGRATIONS: await readD1Migrations(`${root}migrations`),
              },
            },
          })),
        ],
        test: {
          name: "workers",
          provide: { fuzz },
          include: ["test/workers/**/*.test.ts"],
          setupFiles: ["test/workers/apply-migrations.ts"],
          ...HANG_BOUNDS,
        },
      },
      {
        root,
        test: {
          name: "system",
          include: ["test/system/**/*.test.ts"],
          globalSetup: ["test/system/running-service.ts"],
          testTimeout: 300_000,
          hookTimeout: 300_000,
          fileParallelism: false,
        },
      },
      {
        root,
        test: {
          name: "crash",
          include: ["test/crash/**/*.test.ts"],
          testTimeout: 120_000,
          // Bounds a hang only: it starts the Worker some twelve times.
          hookTimeout: 1_200_000,
        },
      },
      browserProject,
    ],
  },
});
