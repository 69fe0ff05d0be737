/** Builds the package into `dist/`: modules with types, each worker as one file, and the licences of what is in them. */
import { spawnSync } from "node:child_process";
import { copyFileSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { build } from "esbuild";

const { dirname } = import.meta;
const APACHE = `${dirname}/../data/licenses/libphonenumber-js-Apache-2.0.txt`;

rmSync(`${dirname}/dist`, { recursive: true, force: true });
// Standard output is that of `npm pack`. Errors have paths within the repository.
const compiling = ["--project", dirname, "--noEmit", "false"];
const { status } = spawnSync("tsc", compiling, { cwd: `${dirname}/..`, stdio: ["ignore", 2, 2] });
if (status !== 0) process.exit(1);
const { metafile } = await build({
  entryPoints: [`${dirname}/src/worker.ts`, `${dirname}/src/search-worker.ts`],
  outdir: `${dirname}/dist/client/src`,
  absWorkingDir: `${dirname}/..`,
  allowOverwrite: true,
  bundle: true,
  minify: true,
  format: "esm",
  target: "es2022",
  metafile: true,
  banner: { js: "/*! See LICENSE and NOTICE of locations-at-the-edge-client. */" },
});
copyFileSync(`${dirname}/../LICENSE`, `${dirname}/LICENSE`);
writeFileSync(`${dirname}/NOTICE`, noticesOf(Object.keys(metafile.inputs)));

/** What the authors of bundled modules have written at their beginnings, each once. */
function noticesOf(modules: readonly string[]): string {
  const foreign = modules.filter((module) => module.startsWith("node_modules/"));
  const packages = foreign.map((module) => module.split("/").slice(1, 3).join("/"));
  const notices = foreign.flatMap((module) => {
    const text = readFileSync(`${dirname}/../${module}`, "utf8");
    const blocks = text.match(/^\/\/ .*(?:Copyright|©).*(?:\n\/\/.*)*/gm) ?? [];
    return blocks.map((block) => block.replaceAll(/^\/\/ ?/gm, "").trim());
  });
  return [
    `The workers in dist/client/src have parts of ${[...new Set(packages)].toSorted().join(", ")}.`,
    ...new Set(notices),
    readFileSync(APACHE, "utf8").trimEnd(),
  ].join("\n\n---\n\n");
}
