const UNITS = [
  ["d", 86_400_000],
  ["h", 3_600_000],
  ["min", 60_000],
  ["s", 1_000],
] as const;

/** Formats a duration in its two largest units, such as `1 d 6 h`. */
export function describeDuration(ms: number): string {
  const largest = UNITS.findIndex(([, size]) => ms >= size);
  if (largest === -1) return "0 s";
  let rest = ms;
  const parts = UNITS.slice(largest, largest + 2).map(([unit, size]) => {
    const count = Math.floor(rest / size);
    rest -= count * size;
    return count === 0 ? "" : `${count} ${unit}`;
  });
  return parts.filter((part) => part !== "").join(" ");
}
