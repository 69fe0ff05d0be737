/**
 * Refuses wrong settings in wrangler.toml, and builds the pages that are the Worker's static assets,
 * unless nothing has changed since they were built. Wrangler runs it at its start, also of a
 * deployment, and whenever a file of `src/` or `web/` changes.
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { checkBindings, checkVars } from "../../scripts/wrangler-vars.ts";
import { INPUTS, listFiles } from "./inputs.ts";

/** Has the list of the files that the last build started with. */
const STAMP = "dist/web-built";
/** Bounds a hang only. */
const LOCK_TIMEOUT_MS = 600_000;

const problems = [...checkVars(), ...checkBindings()];
if (problems.length > 0) {
  process.stderr.write(
    `${problems.join("\n")}\nAll settings: docs/deploying.md and docs/alerts.md\n`,
  );
  fail();
}

// One build at a time: another one waits, and finds that nothing is left to do. The system frees the lock.
mkdirSync("dist", { recursive: true });
const lock = new DatabaseSync("dist/build-lock.sqlite", { timeout: LOCK_TIMEOUT_MS });
lock.exec("BEGIN EXCLUSIVE");

const inputs = JSON.stringify([...listFiles(INPUTS)]);
const isBuilt = existsSync("dist/web") && existsSync(STAMP);
if (!isBuilt || readFileSync(STAMP, "utf8") !== inputs) {
  try {
    await import("./pages.ts");
  } catch (error) {
    // esbuild and the packing of the package have already printed their errors.
    if (!(error instanceof Error) || !("errors" in error || "stderr" in error)) throw error;
    if ("stderr" in error) process.stderr.write(String(error.stderr));
    fail();
  }
  writeFileSync(STAMP, inputs);
}
lock.close();

/** Ends the build. An exit code makes wrangler write 500 lines, in which the cause is lost; a signal, 20. */
function fail(): never {
  if (process.env["WRANGLER_COMMAND"] !== undefined) process.kill(process.pid);
  process.exit(1);
}
