import { readFileSync, writeFileSync } from "node:fs";

export interface Table {
  readonly title: string;
  readonly columns: readonly string[];
  readonly rows: readonly (readonly string[])[];
}

/** Where the tables stand. */
const PAGE = "docs/performance.md";
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

/** Writes tables between the page's marks. */
export function writeReport(tables: readonly Table[]): void {
  const page = readFileSync(PAGE, "utf8");
  const [before, rest] = page.split(BEGIN);
  const after = rest?.split(END)[1];
  if (after === undefined) throw new Error(`${PAGE} lacks ${BEGIN} … ${END}`);
  const report = `${BEGIN}\n${tables.map(printTable).join("")}\n${END}`;
  writeFileSync(PAGE, `${before}${report}${after}`);
}
