import { readFileSync } from "node:fs";
import { parse } from "csv-parse/sync";
import { repeated } from "./repeated.ts";

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
