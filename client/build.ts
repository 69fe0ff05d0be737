/** Builds the package into `dist/`: modules with types, and the worker as one file. */
import { execFileSync } from "node:child_process";
import { rmSync } from "node:fs";
import { build } from "esbuild";

const { dirname } = import.meta;

rmSync(`${dirname}/dist`, { recursive: true, force: true });
execFileSync("tsc", ["--project", dirname, "--noEmit", "false"], { stdio: "inherit" });
await build({
  entryPoints: [`${dirname}/src/worker.ts`],
  outfile: `${dirname}/dist/client/src/worker.js`,
  allowOverwrite: true,
  bundle: true,
  minify: true,
  format: "esm",
  target: "es2022",
});
