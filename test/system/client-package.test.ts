/** The package as a stranger gets it: from the service, in an empty folder, used as its README says. */
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, inject, it } from "vitest";
import { runCommand } from "./run-command.ts";

const { url } = inject("service");

interface Package {
  readonly exports: { readonly [path: string]: string | { readonly [condition: string]: string } };
}

const folder = mkdtempSync(join(tmpdir(), "locations-client-"));
const installed = join(folder, "node_modules", "locations-at-the-edge-client");
afterAll(() => rmSync(folder, { recursive: true }));

const readme = readFileSync("client/README.md", "utf8");

beforeAll(async () => {
  const command = `npm install --prefix ${folder} ${url}/client.tgz`;
  const { code, stderr } = await runCommand("sh", "-c", command);
  if (code !== 0) throw new Error(`not installed: ${stderr}`);
});

async function runProgram(code: string) {
  const file = join(folder, "program.mjs");
  writeFileSync(file, code);
  return runCommand("node", file);
}

/** Runs the README's only program that has a text; returns the lines that it prints. */
async function runReadme(text: string): Promise<string[]> {
  const blocks = [...readme.matchAll(/^```[jt]s\n(.*?)^```$/gms)].map(([, block = ""]) => block);
  const [code = "", other] = blocks.filter((block) => block.includes(text));
  expect(other).toBeUndefined();
  const source = `baseUrl: "${url}", folder: "${folder}"`;
  const ended = await runProgram(code.replace('baseUrl: "http://127.0.0.1:8787"', source));
  expect(ended).toMatchObject({ code: 0, stderr: "" });
  return ended.stdout.trim().split("\n");
}

it("the README's program finds a city by its German name", async () => {
  const lines = await runReadme("// Germany");
  expect(lines[0]).toMatch(/^München Bayern, Deutschland \[ 'MUC' \]$/);
  expect(lines.at(-1)).toBe("Germany");
});

it("the README's picker finds it without the catalog", async () => {
  const [line] = await runReadme("of await picker");
  expect(line).toBe("München Deutschland [ 'MUC' ]");
});

it("each of its parts can be imported alone, and has its types", async () => {
  const { exports } = JSON.parse(readFileSync(join(installed, "package.json"), "utf8")) as Package;
  const files = Object.values(exports).flatMap((target) =>
    typeof target === "string" ? [target, target.replace(".js", ".d.ts")] : Object.values(target),
  );
  expect(files.filter((file) => !existsSync(join(installed, file)))).toEqual([]);
  const parts = Object.keys(exports).filter((path) => !/^\.\/(?:search-)?worker$/.test(path));
  const { stdout } = await runProgram(
    parts
      .map((part) => `await import("locations-at-the-edge-client${part.slice(1)}");`)
      .concat('console.log("all");')
      .join("\n"),
  );
  expect(stdout).toBe("all\n");
});

it("the package has its licence, and the notices of what its worker is bundled with", () => {
  const read = (file: string) => readFileSync(join(installed, file), "utf8");
  expect(read("LICENSE")).toBe(readFileSync("LICENSE", "utf8"));
  const notice = read("NOTICE");
  for (const needed of [
    "Buf Technologies, Inc.",
    "Google Inc.  All rights reserved.",
    "TERMS AND CONDITIONS FOR USE, REPRODUCTION, AND DISTRIBUTION",
  ])
    expect(notice).toContain(needed);
  expect(read("dist/client/src/worker.js")).toMatch(/^\/\*! See LICENSE and NOTICE/);
});
