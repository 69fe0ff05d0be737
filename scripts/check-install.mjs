/** Runs before `npm start`, on any Node, also without what `npm ci` installs. */
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";

/** Packages whose program an install script puts in place. */
const PROGRAMS = ["node", "esbuild", "workerd"];

if (![...PROGRAMS, "wrangler"].every((name) => existsSync(`node_modules/${name}/package.json`)))
  fail("The dependencies are not installed. Run: npm ci");

for (const name of PROGRAMS) {
  const { stdout } = spawnSync(`node_modules/${name}/bin/${name}`, ["--version"], {
    encoding: "utf8",
    timeout: 60_000,
  });
  if (!stdout)
    fail(`node_modules/${name}/bin/${name} does not run: its install script has not run, or it is of another system.
Run: npm rebuild --ignore-scripts=false
If that does not help: npm ci --ignore-scripts=false`);
  const { version } = JSON.parse(readFileSync(`node_modules/${name}/package.json`, "utf8"));
  if (name === "node" && stdout.trim() !== `v${version}`)
    fail(
      `node_modules/node/bin/node is ${stdout.trim()}, not v${version}. Run: npm ci --ignore-scripts=false`,
    );
}

/** @param {string} message */
function fail(message) {
  process.stderr.write(`${message}\n`);
  process.exit(1);
}
