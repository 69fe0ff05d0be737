/** Numbers in stored JSON: the least and the largest that are accepted, those just beyond, and nonsense. */

/** Whole numbers that a field takes, or any from `least` to `most`. */
export interface NumberRange {
  readonly least: number;
  readonly most: number;
  readonly isFraction?: true;
}

/** Values as JSON can write them, each with whether a field of the range takes it. */
export function valuesOf({
  least,
  most,
  isFraction,
}: NumberRange): readonly [text: string, boolean][] {
  return [
    [String(least), true],
    [String(most), true],
    [String(most + 1), false],
    [String(least - 1), false],
    ["0.5", isFraction === true],
    ["-1.5", false],
    ["9007199254740993", false],
    ["1e400", false],
    ["-1e400", false],
    ["null", false],
    ['"1"', false],
  ];
}

type Path = readonly string[];

/** The paths of all numbers in a value of JSON, each once however many items of a list have it. */
export function numberPaths(value: unknown, path: Path = []): Path[] {
  if (typeof value === "number") return [path];
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value)
    .filter(([name]) => !Array.isArray(value) || name === "0")
    .flatMap(([name, field]) => numberPaths(field, [...path, name]));
}

/** JSON with another number, in any writing, at a path. */
export function withNumber(value: unknown, path: Path, text: string): string {
  const marked = JSON.stringify(changed(value, path));
  return marked.replace(`"${MARK}"`, text);
}

const MARK = "the number";

function changed(value: unknown, [name, ...rest]: Path): unknown {
  if (name === undefined) return MARK;
  if (Array.isArray(value))
    return value.map((item, at): unknown => (String(at) === name ? changed(item, rest) : item));
  const fields: { readonly [field: string]: unknown } = { ...(value as object) }; // as the path says
  return { ...fields, [name]: changed(fields[name], rest) };
}
