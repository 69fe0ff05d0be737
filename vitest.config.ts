import { availableParallelism } from "node:os";
import { cloudflareTest, readD1Migrations } from "@cloudflare/vitest-pool-workers";
import { defineConfig } from "vitest/config";
import { adminTokens } from "./test/builders/admin-tokens.ts";
import { LOCAL_SETTINGS } from "./scripts/local-settings.ts";
import { OVERDUE } from "./src/platform/work-limit.ts";
import { fuzzSettings } from "./test/fuzz-settings.ts";

const root = `${import.meta.dirname}/`;

// Read as the value of the required secret; only a binding would still be warned about.
process.env.ADMIN_TOKENS = adminTokens();
// Wrangler would say for each project where it has that value from.
process.env["WRANGLER_LOG"] = "warn";

const fuzz = fuzzSettings(process.env);

/** They end what hangs, and nothing else: on a busy machine a test of milliseconds takes seconds. */
const HANG_BOUNDS = {
  testTimeout: 300_000,
  hookTimeout: 300_000,
  expect: { poll: { timeout: 120_000 } },
};

/** One more than there are processors: tests wait now and then for a file, a process or a clock. */
const parallel = { ...HANG_BOUNDS, maxWorkers: availableParallelism() + 1 };
/** Two more than there are processors: tests in a browser and of commands wait more than they compute. */
const waiting = { ...HANG_BOUNDS, maxWorkers: availableParallelism() + 2 };

const runningService = {
  globalSetup: ["test/prerequisites.ts", "test/system/running-service.ts"],
  setupFiles: ["test/system/await-catalog.ts"],
};

/** Tests of commands: they start the service or wrangler. */
const COMMANDS = [
  "test/system/start.test.ts",
  "test/system/start-edits.test.ts",
  "test/system/start-faults.test.ts",
  "test/node/scripts/deploy.test.ts",
];

/** Long tables, each row of which publishes, restarts or searches the world: CI runs them, `npm test` does not. */
const SWEEPS = "**/*.sweep.test.ts";

/** They change what a service publishes, each of one of its own. */
const OPERATIONS = "web/test/browser/dashboard/operations.test.ts";
const BACKUPS = "web/test/browser/dashboard/alerts-and-backups.test.ts";

const browserProjects = [
  {
    root,
    test: {
      name: "pages",
      include: ["web/test/browser/**/*.test.ts"],
      exclude: [OPERATIONS, BACKUPS],
      ...runningService,
      ...waiting,
      // Each file would load what starts a browser again.
      isolate: false,
    },
  },
  {
    root,
    test: { name: "operations", include: [OPERATIONS], ...runningService, ...waiting },
  },
  { root, test: { name: "backups", include: [BACKUPS], ...runningService, ...waiting } },
];

const inNode = (name: string, files: { include: string[]; exclude?: string[] }) => ({
  root,
  resolve: {
    alias: { "cloudflare:workers": `${root}test/builders/cloudflare-workers.ts` },
  },
  test: {
    name,
    provide: { fuzz },
    ...files,
    ...parallel,
    // Starting a process for each of its many small files takes longer than most of them.
    isolate: false,
  },
});

const projects = [
  ...browserProjects,
  inNode("node", {
    include: ["test/node/**/*.test.ts", "web/test/*.test.ts", "client/test/*.test.ts"],
    exclude: [...COMMANDS, SWEEPS],
  }),
  inNode("sweeps", { include: [SWEEPS] }),
  {
    root,
    test: {
      name: "data",
      include: ["data/test/*.test.ts"],
      globalSetup: ["test/prerequisites.ts"],
      ...parallel,
    },
  },
  {
    root,
    plugins: [
      cloudflareTest(async () => ({
        // Tests reset objects on purpose, which workerd would report each time.
        verbose: false,
        wrangler: { configPath: `${root}wrangler.toml` },
        miniflare: {
          bindings: {
            ...LOCAL_SETTINGS,
            LOCALES: "en,de,ja",
            // Files that are dropped are published as they are.
            SURPRISE_HOLD_MS: "0",
            SURPRISE_UNLISTED_PERCENT: "100",
            MIGRATIONS: await readD1Migrations(`${root}migrations`),
          },
        },
      })),
    ],
    test: {
      name: "workers",
      provide: { fuzz },
      include: ["test/workers/**/*.test.ts"],
      globalSetup: ["test/workers/build-pages.ts"],
      setupFiles: ["test/workers/late-code.ts", "test/workers/fresh-worker.ts"],
      ...parallel,
      // Starting a Worker for each file takes longer than most of them; the setup clears it.
      isolate: false,
    },
  },
  {
    root,
    test: {
      name: "system",
      include: ["test/system/**/*.test.ts"],
      exclude: COMMANDS,
      ...runningService,
      ...parallel,
      // Starting a process for each file takes longer than some of them.
      isolate: false,
    },
  },
  { root, test: { name: "commands", include: COMMANDS, ...runningService, ...waiting } },
  {
    root,
    test: {
      name: "caches",
      include: ["test/caches/*.test.ts"],
      ...runningService,
      ...parallel,
    },
  },
  {
    root,
    test: {
      name: "receivers",
      include: ["test/receivers/*.test.ts"],
      ...runningService,
      ...HANG_BOUNDS,
    },
  },
  {
    root,
    test: {
      name: "places",
      include: ["test/places/*.test.ts"],
      ...runningService,
      ...HANG_BOUNDS,
      fileParallelism: false,
      // It installs what an application needs.
      testTimeout: 900_000,
    },
  },
  {
    root,
    test: {
      name: "crash",
      include: ["test/crash/**/*.test.ts"],
      ...HANG_BOUNDS,
      fileParallelism: false,
      // It starts the Worker some twelve times.
      hookTimeout: 1_800_000,
      testTimeout: 1_800_000,
      expect: { poll: { timeout: 900_000 } },
    },
  },
];

/** What runs if no project is named, as in `npx vitest`: it needs only what `npm ci` installs. */
const USUAL = ["node", "workers", "system"];
const isNamed = process.argv.some((argument) => argument.startsWith("--project"));

export default defineConfig({
  root,
  test: {
    silent: "passed-only",
    // workerd reports an instance that ends itself, as one does whose work takes too long.
    onUnhandledError: ({ message }) => (message === OVERDUE ? false : undefined),
    projects: isNamed ? projects : projects.filter(({ test }) => USUAL.includes(test.name)),
  },
});
