/** The middle of some numbers. */
export function median(numbers: readonly number[]): number {
  const ordered = numbers.toSorted((a, b) => a - b);
  return ordered[Math.floor(ordered.length / 2)] ?? Number.NaN;
}

/** A number with so many decimals. */
export function round(number: number, decimals: number): string {
  return number.toFixed(decimals);
}
