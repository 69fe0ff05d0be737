/** Damaged manifests. */
import fc from "fast-check";
import { mutatedBytes } from "./mutations.ts";

/** The text of some JSON, such as a manifest, with values, parts or bytes changed. */
export function damagedManifest(manifest: object): fc.Arbitrary<string> {
  const whole = JSON.stringify(manifest);
  const bytes = mutatedBytes(new TextEncoder().encode(whole)).map((damaged) =>
    new TextDecoder().decode(damaged),
  );
  const digits = fc
    .tuple(fc.nat(whole.length - 1), fc.constantFrom(...'0123456789abcdef"{}[],:'.split("")))
    .map(([at, char]) => whole.slice(0, at) + char + whole.slice(at + 1));
  const values = damagedValue(manifest).map((damaged) => JSON.stringify(damaged) ?? "");
  return fc.oneof({ weight: 3, arbitrary: values }, digits, bytes);
}

/** A value of JSON of which up to three parts are others, or gone. */
export function damagedValue(value: unknown): fc.Arbitrary<unknown> {
  return fc
    .array(fc.tuple(fc.nat(countValues(value) - 1), replacement), { minLength: 1, maxLength: 3 })
    .map((changes) => withValues(value, new Map(changes)));
}

/** What stands in place of a value; `swap` is another value of the manifest, `gone` none. */
type Replacement = { readonly value: unknown } | "gone" | { readonly swap: number };

const replacement: fc.Arbitrary<Replacement> = fc.oneof(
  fc.jsonValue({ maxDepth: 1 }).map((value) => ({ value })),
  fc
    .constantFrom(
      null,
      -1,
      1.5,
      0,
      1,
      2 ** 53,
      "",
      "x",
      [],
      {},
      "0".repeat(64),
      [{ inline: "" }],
      [{ inline: "!" }],
    )
    .map((value) => ({ value })),
  fc.constant("gone" as const),
  fc.nat({ max: 2000 }).map((swap) => ({ swap })),
);

/** Every value in a tree, itself first. */
function* valuesOf(tree: unknown): Generator {
  yield tree;
  if (typeof tree !== "object" || tree === null) return;
  for (const value of Object.values(tree)) yield* valuesOf(value);
}

function countValues(tree: unknown): number {
  return [...valuesOf(tree)].length;
}

/** A copy in which the values of these numbers, as `valuesOf` has them, are replaced. */
function withValues(tree: unknown, changes: ReadonlyMap<number, Replacement>): unknown {
  const all = [...valuesOf(tree)];
  let index = 0;
  const copy = (value: unknown): unknown => {
    const change = changes.get(index++);
    if (change === "gone") return undefined;
    if (change !== undefined)
      return "swap" in change ? all[change.swap % all.length] : change.value;
    if (typeof value !== "object" || value === null) return value;
    if (Array.isArray(value)) return value.map(copy);
    return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, copy(part)]));
  };
  return copy(tree);
}

/** A value in which the field or item at `path` is another. */
export function changed(value: unknown, path: readonly string[], part: unknown): unknown {
  const [key, ...rest] = path;
  if (key === undefined) return part;
  if (Array.isArray(value))
    return value.map((item, index) => (String(index) === key ? changed(item, rest, part) : item));
  const fields = value as { readonly [key: string]: unknown }; // the path names objects and lists
  return { ...fields, [key]: changed(fields[key], rest, part) };
}
