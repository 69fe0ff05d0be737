import { readFileSync, writeFileSync } from "node:fs";

export interface Table {
  readonly title: string;
  readonly columns: readonly string[];
  readonly rows: readonly (readonly string[])[];
}

/** Where the tables stand. */
export const PAGE = "docs/performance.md";
const BEGIN = "<!-- bench: begin -->";
const END = "<!-- bench: end -->";

/** A table as Markdown, aligned. */
export function printTable({ title, columns, rows }: Table): string {
  const widths = columns.map((column, index) =>
    Math.max(column.length, ...rows.map((row) => row[index]?.length ?? 0)),
  );
  const line = (cells: readonly string[]) =>
    `| ${widths.map((width, i) => (i === 0 ? (cells[i] ?? "").padEnd(width) : (cells[i] ?? "").padStart(width))).join(" | ")} |\n`;
  const rule = `| ${widths.map((width, i) => (i === 0 ? "-".repeat(width) : `${"-".repeat(width - 1)}:`)).join(" | ")} |\n`;
  return `\n${title}\n\n${line(columns)}${rule}${rows.map(line).join("")}`;
}

/** Puts tables in the place of those on the page that have the same columns; the page has not all. */
export function writeReport(tables: readonly Table[]): void {
  const page = readFileSync(PAGE, "utf8");
  const [before, rest] = page.split(BEGIN);
  const [written, after] = rest?.split(END) ?? [];
  if (written === undefined || after === undefined)
    throw new Error(`${PAGE} lacks ${BEGIN} … ${END}`);
  const texts = new Map(
    (written.match(TABLE) ?? []).map((text): [string, string] => [columnsOf(text), text]),
  );
  for (const text of tables.map(printTable))
    if (texts.has(columnsOf(text))) texts.set(columnsOf(text), text);
  writeFileSync(PAGE, `${before}${BEGIN}\n${[...texts.values()].join("")}\n${END}${after}`);
}

/** A table with its title, as `printTable` writes it. */
const TABLE = /\n[^|\n].*\n\n(?:\|.*\n)+/g;

/** The names of a table's columns, without the spaces that align them. */
function columnsOf(text: string): string {
  return (/^\|.*/m.exec(text)?.[0] ?? "").replaceAll(/ +/g, " ");
}
