/**
 * What docs/performance.md says, against the tables that the bench has written there.
 * `ingest/embedded-catalog.test.ts` tries what needs no measuring.
 */
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";

const page = readFileSync("docs/performance.md", "utf8");

/** The numbers of each row, by column; empty cells are left out. */
const rows = new Map(
  [...page.matchAll(/^\| (.*?) +\|(.*)\|$/gm)].map(([, name = "", cells = ""]) => [
    name,
    cells.split("|").map((cell) => cell.trim()),
  ]),
);

function valueOf(name: string, column = 0): number {
  const value = rows.get(name)?.[column];
  if (value === undefined || value === "") throw new Error(`the page has no figure of ${name}`);
  return Number(value);
}

const columns = rows.get("request") ?? [];

function ratiosOf(column: string): number[] {
  const at = columns.indexOf(column);
  const names = [...rows.keys()].filter((name) => /^(?:connect|grpc-web)-(?!text)/.test(name));
  return names
    .map((name) => rows.get(name)?.[at] ?? "")
    .filter((cell) => cell !== "")
    .map(Number);
}

describe("docs/performance.md", () => {
  it("is right that an answer costs what a constant of the same bytes costs, within a tenth", () => {
    const ratios = ratiosOf("limit / service");
    expect(ratios.length).toBeGreaterThan(5);
    expect(Math.min(...ratios)).toBeGreaterThan(0.9);
    expect(Math.max(...ratios)).toBeLessThan(1.1);
  });

  it("is right that Connect's router takes over ten times the CPU and over three times the bytes", () => {
    const ratios = ratiosOf("router / service");
    expect(ratios.length).toBeGreaterThan(5);
    expect(Math.min(...ratios)).toBeGreaterThan(10);
    for (const protocol of ["connect-proto", "connect-json", "grpc-web"])
      expect(valueOf(`${protocol}-identity`) / valueOf(`${protocol}-br`)).toBeGreaterThan(3);
  });

  it("is right that base64 sends 2.5 MB and takes some 8 ms more", () => {
    expect(valueOf("grpc-web-text-identity") / 1e6).toBeCloseTo(2.5, 1);
    const cpuAt = columns.indexOf("CPU ms");
    const more = valueOf("grpc-web-text-identity", cpuAt) - valueOf("grpc-web-identity", cpuAt);
    expect(more).toBeCloseTo(8, 0);
  });

  it("is right about what a new isolate and its first answer cost", () => {
    const [, , startMs, firstMs] = rows.get("the service") ?? [];
    const [, , , readingMs] = rows.get("only reads from KV and sends") ?? [];
    const [, , , verifyingMs] = rows.get("and verifies, parses and streams") ?? [];
    expect(Number(startMs)).toBeGreaterThan(5);
    expect(Number(startMs)).toBeLessThan(30);
    const ratio = Number(firstMs) / Number(readingMs);
    expect(ratio).toBeGreaterThan(2);
    expect(ratio).toBeLessThan(3.2);
    expect(Number(firstMs) / Number(verifyingMs)).toBeGreaterThan(1.6);
    expect(Number(firstMs) / Number(verifyingMs)).toBeLessThan(2.4);
  });

  it("is right about what the package transfers", () => {
    expect(rows.get("in turn")).toEqual(["Node, kB", "Chromium, kB"]);
    for (const column of [0, 1]) {
      for (const language of ["English", "German"])
        expect(valueOf(`${language} after an update`, column)).toBeLessThan(5);
      for (const name of ["German", "Russian", "Japanese after an update"])
        expect(valueOf(name, column)).toBeLessThanOrEqual(20);
    }
  });
});
