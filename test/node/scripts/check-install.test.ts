import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";

let clone: string;

/** A file of the clone's node_modules. */
function install(path: string, text: string): void {
  const file = join(clone, "node_modules", path);
  mkdirSync(dirname(file), { recursive: true });
  rmSync(file, { force: true });
  writeFileSync(file, text, { mode: 0o755 });
}

const program = (version: string) => `#!/bin/sh\necho ${version}\n`;

/** What the check says in a clone; empty if it passes. */
function check(cwd = clone): string {
  const script = resolve("scripts/check-install.mjs");
  const { status, stderr } = spawnSync(process.execPath, [script], { cwd, encoding: "utf8" });
  expect(status).toBe(stderr === "" ? 0 : 1);
  return stderr;
}

beforeEach(() => {
  clone = mkdtempSync(join(tmpdir(), "locations-clone-"));
  for (const name of ["node", "esbuild", "workerd", "wrangler"]) {
    install(`${name}/package.json`, JSON.stringify({ version: "24.21.0" }));
    install(`${name}/bin/${name}`, program("v24.21.0"));
  }
});
afterEach(() => rmSync(clone, { recursive: true }));

describe("the check of what is installed", () => {
  it("passes in a whole clone, and in this one", () => {
    expect(check()).toBe("");
    expect(check(process.cwd())).toBe("");
  });

  it.each(["node", "esbuild", "workerd", "wrangler", ""])("asks for npm ci without %s", (name) => {
    rmSync(join(clone, "node_modules", name), { recursive: true });
    expect(check()).toBe("The dependencies are not installed. Run: npm ci\n");
  });

  describe.each(["node", "esbuild", "workerd"])("asks for npm rebuild", (name) => {
    it.each([
      ["is missing, as after npm ci --ignore-scripts", undefined],
      ["is of another system", "\x7fELF of another system"],
      ["fails", "#!/bin/sh\necho no such library >&2\nexit 127\n"],
    ])(`if the program of ${name} %s`, (_, text) => {
      install(`${name}/bin/${name}`, text ?? "");
      if (text === undefined) rmSync(join(clone, "node_modules", name, "bin", name));
      const said = check();
      expect(said).toContain(`node_modules/${name}/bin/${name} does not run`);
      expect(said).toContain("Run: npm rebuild --ignore-scripts=false\n");
    });
  });

  it("names a Node of another version than package.json wants", () => {
    install("node/bin/node", program("v20.19.0"));
    expect(check()).toContain("is v20.19.0, not v24.21.0. Run: npm ci");
  });
});
