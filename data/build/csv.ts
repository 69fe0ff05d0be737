import { stringify } from "csv-stringify/sync";

/** A table: its columns and its rows, in the order in which they are written. */
export interface Table {
  readonly columns: readonly string[];
  readonly rows: readonly (readonly (string | number | null)[])[];
}

/** RFC 4180 with a header row and LF line ends; null and empty strings are empty fields. */
export function toCsv({ columns, rows }: Table): string {
  return stringify([columns, ...rows] as unknown[][], { record_delimiter: "\n" });
}

/** A list with an object for each row, each on a line of its own. */
export function toJson({ columns, rows }: Table): string {
  const objects = rows.map((row) =>
    JSON.stringify(Object.fromEntries(columns.map((column, index) => [column, row[index]]))),
  );
  return `[\n${objects.join(",\n")}\n]\n`;
}
