import { readFileSync } from "node:fs";
import { parse } from "csv-parse/sync";
import type { Findings } from "./findings.ts";
import { repeated } from "./repeated.ts";
import { isDay } from "./text.ts";

/** One row of a table of facts. */
export type Fact<Column extends string> = Readonly<Record<Column | "source", string>>;

/**
 * A table of `data/facts/`, keyed by its first columns.
 * Throws when a field is empty or a key is there twice: a fact without a source is a claim.
 */
export function readFacts<Column extends string>(
  name: string,
  key: readonly Column[],
): readonly Fact<Column>[] {
  const text = readFileSync(new URL(`../facts/${name}.csv`, import.meta.url), "utf8");
  const rows = parse(text, { columns: true }) as Fact<Column>[];
  const empty = rows.find((row) => Object.values(row).includes("") || !row.source);
  if (empty !== undefined)
    throw new Error(`${name}.csv: a field is empty: ${JSON.stringify(empty)}`);
  const [twice] = repeated(rows.map((row) => key.map((column) => row[column]).join(" ")));
  if (twice !== undefined) throw new Error(`${name}.csv: ${twice} is there twice`);
  return rows;
}

/** The values that a field allows: `London|Luton` is either. */
export function alternatives(field: string): readonly string[] {
  return field.split("|");
}

/** No row may be due: somebody looks at its sources again, and writes the next day into it. */
export function checkDue(
  file: string,
  rows: readonly { readonly again: string }[],
  findings: Findings,
  today = new Date().toISOString().slice(0, 10),
): void {
  const due = rows.filter(({ again }) => !isDay(again) || again <= today);
  const keys = due.slice(0, 10).map((row) => Object.values(row)[0]);
  findings.equal(due.length, 0, `${file}: to be looked at again: ${keys.join(" ")}`);
}
