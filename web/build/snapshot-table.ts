import { readFileSync } from "node:fs";
import { gunzipSync } from "node:zlib";
import { parse } from "csv-parse/sync";
import { memoize } from "../../src/platform/once.ts";

export type Row = Readonly<Record<string, string>>;

/** Reads the rows of a compressed table below `data/`, each table once. */
export const readTable = memoize((path): readonly Row[] => {
  const text = gunzipSync(readFileSync(`data/${path}`)).toString();
  return path.endsWith(".json.gz") ? JSON.parse(text) : parse(text, { columns: true });
});
