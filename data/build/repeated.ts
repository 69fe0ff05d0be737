/** The values that stand in a list again, once for each time. */
export function repeated<Value>(values: readonly Value[]): Value[] {
  const seen = new Set<Value>();
  return values.filter((value) => seen.size === seen.add(value).size);
}
