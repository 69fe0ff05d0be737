/** Fails if a generated file is out of date. */
import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import config from "../drizzle.config.ts";

/** Folders whose files are generated from the repository alone. */
const GENERATED = ["gen/locations", "migrations"];

// Below this folder, because drizzle-kit reads an absolute path as a relative one.
mkdirSync(".wrangler", { recursive: true });
const fresh = mkdtempSync(".wrangler/generated-");
try {
  cpSync("migrations", join(fresh, "migrations"), { recursive: true });
  run(`buf generate --output ${fresh}`);
  const { dialect, schema } = config;
  run(
    `drizzle-kit generate --dialect ${dialect} --schema ${schema} --out ${join(fresh, "migrations")}`,
  );
  const stale = GENERATED.flatMap((folder) => differences(join(fresh, folder), folder));
  if (stale.length > 0) throw new Error(`out of date: ${stale.join(", ")}`);
  run("wrangler types gen/env.d.ts --include-runtime=false --strict-vars=false --check");
} catch (error) {
  const problem = error instanceof Error ? error.message : String(error);
  process.stderr.write(`Generated files: ${problem}\nRun "npm run generate" and commit.\n`);
  process.exitCode = 1;
} finally {
  rmSync(fresh, { recursive: true });
}

function run(command: string): void {
  const { status, stdout, stderr } = spawnSync(command, { shell: true, encoding: "utf8" });
  if (status !== 0) throw new Error(`${command}\n${stdout}${stderr}`);
}

/** Files that differ between two folders, or are missing in one. */
function differences(one: string, other: string): string[] {
  const names = new Set([...listFiles(one), ...listFiles(other)]);
  return [...names]
    .filter((name) => read(join(one, name)) !== read(join(other, name)))
    .map((name) => join(other, name));
}

function listFiles(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1));
}

function read(file: string): string | undefined {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return undefined;
  }
}
