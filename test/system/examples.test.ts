import { describe, expect, inject, it } from "vitest";
import manifest from "../../data/snapshot/manifest.json" with { type: "json" };
import { runCommand } from "./run-command.ts";

const { url } = inject("service");

const AIRPORTS = manifest.counts.airports;

describe("examples/node.ts", () => {
  it("joins the lists and prints the regions in the requested language", async () => {
    const { code, stdout, stderr } = await runCommand("node", "examples/node.ts", url, "de", "PMI");
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout).toMatch(new RegExp(`^${AIRPORTS} airports, version \\d+$`, "m"));
    expect(stdout).toMatch(/^PMI: .*, Palma.*, Spain$/m);
    expect(stdout).toContain("Regions in de:\n");
    expect(stdout).toMatch(/^ {2}Balearen$/m);
  });

  it("prints the code and the message of an error", async () => {
    const { code, stderr } = await runCommand("node", "examples/node.ts", url, "not a tag");
    expect(code).toBe(1);
    expect(stderr).toMatch(/^InvalidArgument: .*use a tag such as/);
  });
});

describe("examples/shell.sh", () => {
  it("gets the catalog over each protocol, then 304, then the message of an error", async () => {
    const { code, stdout, stderr } = await runCommand("sh", "examples/shell.sh", url, "de");
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout).toMatch(/^catalog-version: \d+$/im);
    expect(Number(/^bytes: (\d+)$/m.exec(stdout)?.[1])).toBeGreaterThan(3_000_000);
    expect(stdout).toContain("first: 200\nagain: 304\nthe same bytes\n");
    expect(stdout).not.toContain("Munich: 0");
    expect(stdout).toMatch(/"code":"invalid_argument"[^]*status: 400/);
  });
});
