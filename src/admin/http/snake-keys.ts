/** A type as `snakeKeys` makes it. Keys of index signatures are data and stay as they are. */
export type SnakeKeys<T> = T extends readonly (infer Item)[]
  ? readonly SnakeKeys<Item>[]
  : T extends object
    ? { readonly [K in keyof T as SnakeKey<K>]: SnakeKeys<T[K]> }
    : T;

type SnakeKey<K> = K extends `${infer First}${infer Rest}`
  ? Rest extends Uncapitalize<Rest>
    ? `${First}${SnakeKey<Rest>}`
    : `${First}_${SnakeKey<Uncapitalize<Rest>>}`
  : K;

/** A value as it goes out: the keys of its objects in snake_case. */
export function snakeKeys<T>(value: T): SnakeKeys<T> {
  return convert(value) as SnakeKeys<T>; // the type says what `convert` does
}

function convert(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(convert);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [toSnake(key), convert(item)]),
  );
}

/** Keys that are data (locales, file names, reasons) have no capitals within and stay as they are. */
function toSnake(key: string): string {
  return /^[a-z]+([A-Z0-9][a-z0-9]*)+$/.test(key)
    ? key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
    : key;
}
