import { readFileSync } from "node:fs";
import { parse } from "csv-parse/sync";

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
