import { readFileSync } from "node:fs";
import { gunzipSync } from "node:zlib";
import { parse } from "csv-parse/sync";

export type Row = Readonly<Record<string, string>>;

/** Reads the rows of a compressed table below `data/`. */
export function readTable(path: string): Row[] {
  return parse(gunzipSync(readFileSync(`data/${path}`)), { columns: true });
}
