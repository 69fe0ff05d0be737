import { readFileSync } from "node:fs";
import { parse } from "csv-parse/sync";
import { repeated } from "./repeated.ts";

/**
 * A hand-kept table of `data/curated/`: header row, one column named `reason`.
 * Throws when a row has no reason: nothing is overridden silently.
 */
export function readCurated<Column extends string>(
  name: string,
): readonly Readonly<Record<Column | "reason", string>>[] {
  const text = readFileSync(new URL(`../curated/${name}.csv`, import.meta.url), "utf8");
  const rows = parse(text, { columns: true }) as Readonly<Record<Column | "reason", string>>[];
  const silent = rows.find((row) => !row.reason);
  if (silent !== undefined)
    throw new Error(`${name}.csv: a row has no reason: ${JSON.stringify(silent)}`);
  return rows;
}

/**
 * A hand-kept table of two columns as a map from the one to the other.
 * Throws with the key when it is there twice.
 */
export function readCuratedMap<Key extends string, Value extends string>(
  name: string,
  key: Key,
  value: Value,
): ReadonlyMap<string, string> {
  const rows = readCurated<Key | Value>(name);
  const [twice] = repeated(rows.map((row) => row[key]));
  if (twice !== undefined) throw new Error(`${name}.csv: ${twice} is there twice`);
  return new Map(rows.map((row) => [row[key], row[value]]));
}
