/** Texts that are remembered at once; clients send a few dozen different ones. */
const MAX_ENTRIES = 512;
/** A longer text is computed anew each time, so that callers cannot fill the memory. */
const MAX_LENGTH = 128;

/** A pure function of a text that remembers its results, which nobody may change. */
export function memoize<T extends string | object>(
  compute: (text: string) => T,
): (text: string) => T {
  const known = new Map<string, T>();
  return (text) => {
    const found = known.get(text);
    if (found !== undefined) return found;
    const computed = compute(text);
    if (text.length > MAX_LENGTH) return computed;
    if (known.size >= MAX_ENTRIES) known.clear();
    known.set(text, computed);
    return computed;
  };
}
