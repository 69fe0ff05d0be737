/** Runs before `npm start` and a deployment, on any Node, even before `npm ci`. */
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";

/** Packages whose program is in a package for each system. */
const PROGRAMS = ["esbuild", "workerd"];
/**
 * The first minor version that strips types, of each major version that did not strip types at first.
 */
const OLDEST_MINOR = new Map([
  [22, 18],
  [23, 6],
]);

if (![...PROGRAMS, "wrangler"].every((name) => existsSync(`node_modules/${name}/package.json`)))
  fail("The dependencies are not installed. Run: npm ci");

const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
if (major < 22 || minor < (OLDEST_MINOR.get(major) ?? 0))
  fail(`Node ${process.version} is too old, and node_modules has no newer one.
On Linux or macOS, on x64 or arm64, run: npm ci --include=optional --ignore-scripts=false
Elsewhere, install Node 22.18 or newer, but not 23.0 to 23.5.`);

for (const name of PROGRAMS) {
  const { stdout } = spawnSync(`node_modules/${name}/bin/${name}`, ["--version"], {
    encoding: "utf8",
    timeout: 60_000,
  });
  if (!stdout)
    fail(`node_modules/${name}/bin/${name} does not run: node_modules lacks the package of this system.
Run: npm ci --include=optional`);
}

/** @param {string} message */
function fail(message) {
  process.stderr.write(`${message}\n`);
  process.exit(1);
}
