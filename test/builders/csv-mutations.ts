/** Damage as upstream tables come with: in rows and columns, and in bytes. */
import fc from "fast-check";
import { mutatedBytes } from "./mutations.ts";

type Table = readonly (readonly string[])[];
type Mutation = (table: Table) => Table;

const place = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });
const at = (list: readonly unknown[], share: number) => Math.floor(list.length * share);

/** Unexpected values of a field. */
const oddField: fc.Arbitrary<string> = fc.oneof(
  fc.string({ unit: "binary", maxLength: 12 }),
  fc.constantFrom(
    "",
    " ",
    "NaN",
    "-0",
    "1e308",
    "1e999",
    "91",
    "0",
    "١٢",
    "12,5",
    "0x10",
    "__proto__",
    "constructor",
    "zrh",
    "ZRHH",
    "\0",
    "\ufeff",
    '"',
    "\n",
    "CH",
    "e\u0301",
  ),
);

const hugeField = fc.integer({ min: 1, max: 100_000 }).map((length) => "x".repeat(length));

const mutation: fc.Arbitrary<Mutation> = fc.oneof(
  fc.tuple(place, place, fc.oneof({ weight: 9, arbitrary: oddField }, hugeField)).map(
    ([row, column, field]): Mutation =>
      (table) =>
        table.map((fields, index) =>
          index === at(table, row) ? fields.with(at(fields, column), field) : fields,
        ),
  ),
  place.map(
    (share): Mutation =>
      (table) =>
        table.toSpliced(at(table, share), 1),
  ),
  place.map(
    (share): Mutation =>
      (table) =>
        table.toSpliced(at(table, share), 0, table[at(table, share)] ?? []),
  ),
  place.map(
    (share): Mutation =>
      (table) =>
        table.map((fields, index) => (index === at(table, share) ? fields.slice(1) : fields)),
  ),
  place.map(
    (share): Mutation =>
      (table) =>
        table.map((fields) => fields.toSpliced(at(fields, share), 1)),
  ),
  fc.tuple(place, place).map(
    ([one, other]): Mutation =>
      (table) =>
        table.map((fields) => {
          const [moved = ""] = fields.slice(at(fields, one));
          return fields.toSpliced(at(fields, one), 1).toSpliced(at(fields, other), 0, moved);
        }),
  ),
  oddField.map(
    (field): Mutation =>
      (table) =>
        table.map((fields, index) => [...fields, index === 0 ? "more" : field]),
  ),
);

/** CSV of a table, of which some fields, rows, columns and bytes are not as they were. */
export function mutatedCsv(table: Table): fc.Arbitrary<Uint8Array<ArrayBuffer>> {
  return fc
    .tuple(
      fc.array(mutation, { maxLength: 4 }),
      fc.constantFrom("\n", "\n", "\r\n", "\r"),
      fc.constantFrom("", "", "\ufeff"),
      fc.constantFrom("utf8", "utf8", "utf8", "latin1", "utf16le"),
    )
    .chain(([mutations, lineBreak, mark, encoding]) => {
      let mutated = table;
      for (const mutate of mutations) mutated = mutate(mutated);
      const lines = mutated.map((fields) => `${fields.map(quoted).join(",")}${lineBreak}`);
      return mutatedBytes(Buffer.from(mark + lines.join(""), encoding));
    });
}

function quoted(field: string): string {
  return /[",\r\n]/.test(field) ? `"${field.replaceAll('"', '""')}"` : field;
}
