import { spawn } from "node:child_process";
import { once } from "node:events";
import { delimiter, resolve } from "node:path";
import { text } from "node:stream/consumers";
import { describe, expect, inject, it } from "vitest";
import manifest from "../../data/snapshot/manifest.json" with { type: "json" };

const { url } = inject("service");

const AIRPORTS = manifest.counts.airports;

interface Ended {
  readonly code: unknown;
  readonly stdout: string;
  readonly stderr: string;
}

async function run(command: string, ...args: readonly string[]): Promise<Ended> {
  const bin = resolve("node_modules/.bin");
  const env = { ...process.env, PATH: `${bin}${delimiter}${process.env["PATH"] ?? ""}` };
  const child = spawn(command, args, { env, stdio: ["ignore", "pipe", "pipe"] });
  const [stdout, stderr, [code]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, "close"),
  ]);
  return { code, stdout, stderr };
}

describe("examples/node.ts", () => {
  it("joins the lists and prints the regions in the language it asked for", async () => {
    const { code, stdout, stderr } = await run("node", "examples/node.ts", url, "de", "PMI");
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout).toMatch(new RegExp(`^${AIRPORTS} airports, version \\d+$`, "m"));
    expect(stdout).toMatch(/^PMI: .*, Palma.*, Spain$/m);
    expect(stdout).toContain("Regions in de:\n");
    expect(stdout).toMatch(/^ {2}Balearen$/m);
  });

  it("prints the code and the reason of an error", async () => {
    const { code, stderr } = await run("node", "examples/node.ts", url, "not a tag");
    expect(code).toBe(1);
    expect(stderr).toMatch(/^InvalidArgument: .*use a tag such as/);
  });
});

describe("examples/shell.sh", () => {
  it("gets the catalog over each protocol, 304 the second time, and the reason of a mistake", async () => {
    const { code, stdout, stderr } = await run("sh", "examples/shell.sh", url, "de");
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout).toMatch(/^catalog-version: \d+$/im);
    expect(Number(/^bytes: (\d+)$/m.exec(stdout)?.[1])).toBeGreaterThan(3_000_000);
    expect(stdout).toContain("first: 200\nagain: 304\nthe same bytes\n");
    expect(stdout).not.toContain("Munich: 0");
    expect(stdout).toMatch(/"code":"invalid_argument"[^]*status: 400/);
  });
});
