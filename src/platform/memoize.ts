/** Most memoized texts. Clients send a few dozen different ones. */
const MAX_ENTRIES = 512;
/** Longer texts are not memoized, so that callers cannot fill the memory. */
const MAX_LENGTH = 128;

/** Memoizes a pure function of a text. Callers must not change the results. */
export function memoize<T extends string | object | undefined>(
  compute: (text: string) => T,
): (text: string) => T {
  const known = new Map<string, T>();
  return (text) => {
    const found = known.get(text);
    if (found !== undefined || known.has(text)) return found as T; // it has the text
    const computed = compute(text);
    if (text.length > MAX_LENGTH) return computed;
    const [oldest] = known.keys();
    if (oldest !== undefined && known.size >= MAX_ENTRIES) known.delete(oldest);
    known.set(text, computed);
    return computed;
  };
}
