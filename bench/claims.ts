import { readFileSync } from "node:fs";
import { PAGE } from "./report.ts";

type Cells = (row: string, column: string) => number;

/** The claims of docs/performance.md, each with its condition on the tables. */
const CLAIMS: readonly (readonly [sentence: string, holds: (tables: Tables) => boolean])[] = [
  [
    "an answer costs what a constant of the same bytes costs, within a tenth; only base64 takes more",
    ({ ratios }) => ratios("limit / service").every((ratio) => ratio > 0.9 && ratio < 1.1),
  ],
  [
    "base64 sends 2.5 MB, and takes some 8 ms of CPU more",
    ({ cell }) => {
      const bytes = cell("grpc-web-text-identity", "bytes");
      const moreMs = cell("grpc-web-text-identity", "CPU ms") - cell("grpc-web-identity", "CPU ms");
      return Math.abs(bytes - 2.5e6) < 0.05e6 && Math.abs(moreMs - 8) < 0.5;
    },
  ],
  [
    "Connect's router takes over ten times the CPU, and sends over three times as many bytes",
    ({ cell, ratios }) =>
      ratios("router / service").every((ratio) => ratio > 10) &&
      ["connect-proto", "connect-json", "grpc-web"].every(
        (name) => cell(`${name}-identity`, "bytes") > 3 * cell(`${name}-br`, "bytes"),
      ),
  ],
  [
    "a new isolate starts with some 25 ms of CPU more than an empty Worker",
    ({ cell }) => {
      const startMs = cell("the service", "start beyond the first row's, ms");
      return startMs > 20 && startMs < 30;
    },
  ],
  [
    "a first answer takes two to three times the CPU of a Worker that only reads from KV",
    ({ cell }) => {
      const reading = cell("only reads from KV and sends", "first request, ms");
      const ratio = cell("the service", "first request, ms") / reading;
      return ratio > 2 && ratio < 3;
    },
  ],
  [
    "the catalog costs the package less than 5 kB for an update, and at most 20 kB for another language",
    ({ cell }) =>
      ["Node, kB", "Chromium, kB"].every(
        (column) =>
          ["English", "German"].every((name) => cell(`${name} after an update`, column) < 5) &&
          ["German", "Russian", "Japanese after an update"].every(
            (name) => cell(name, column) <= 20,
          ),
      ),
  ],
];

interface Tables {
  /** A figure by the names of its row and its column. Throws if the page has none. */
  readonly cell: Cells;
  /** The figures of a column in the rows of requests that have one, but for base64. */
  readonly ratios: (column: string) => readonly number[];
}

/** The sentences of the page that its tables contradict. */
export function findFalseClaims(): readonly string[] {
  const tables = readTables(readFileSync(PAGE, "utf8"));
  return CLAIMS.filter(([, holds]) => !holds(tables)).map(([sentence]) => sentence);
}

function readTables(page: string): Tables {
  const rows = new Map<string, ReadonlyMap<string, string>>();
  let columns: readonly string[] = [];
  for (const [line] of page.matchAll(/^\|.*\|$/gm)) {
    const [name = "", ...cells] = line
      .split("|")
      .slice(1, -1)
      .map((cell) => cell.trim());
    if (rows.size === 0 || ["request", "Worker", "in turn"].includes(name)) columns = cells;
    rows.set(name, new Map(cells.map((cell, index) => [columns[index] ?? "", cell])));
  }
  const cell: Cells = (row, column) => {
    const text = rows.get(row)?.get(column) ?? "";
    if (text === "") throw new Error(`${PAGE} has no figure "${column}" of ${row}`);
    return Number(text);
  };
  const ratios = (column: string) => {
    const others = [...rows].filter(([name]) => name !== "grpc-web-text-identity");
    const found = others.map(([, row]) => Number(row.get(column) || Number.NaN));
    const figures = found.filter((figure) => !Number.isNaN(figure));
    if (figures.length < 5) throw new Error(`${PAGE} has few figures "${column}"`);
    return figures;
  };
  return { cell, ratios };
}
