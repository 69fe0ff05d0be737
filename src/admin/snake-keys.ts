type Json = string | number | boolean | null | readonly Json[] | { readonly [key: string]: Json };

/** A value as it goes out: the keys of its objects in snake_case. */
export function snakeKeys(value: unknown): Json {
  if (Array.isArray(value)) return value.map(snakeKeys);
  if (typeof value !== "object" || value === null) return value as Json; // callers pass plain data
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [toSnake(key), snakeKeys(item)]),
  );
}

/** Keys that are data (locales, file names, reasons) have no capitals within and stay as they are. */
function toSnake(key: string): string {
  return /^[a-z]+([A-Z0-9][a-z0-9]*)+$/.test(key)
    ? key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
    : key;
}
