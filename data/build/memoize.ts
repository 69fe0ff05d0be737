/** A pure function of a text that computes each answer once; unlike the Worker's, it forgets none. */
export function memoize<T>(compute: (text: string) => T): (text: string) => T {
  const known = new Map<string, T>();
  return (text) => {
    const found = known.get(text);
    if (found !== undefined) return found;
    const computed = compute(text);
    known.set(text, computed);
    return computed;
  };
}
