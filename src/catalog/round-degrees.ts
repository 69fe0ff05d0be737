/**
 * Rounds degrees to four decimals, without a negative zero. That is 11 m: sources publish an
 * aerodrome's reference point to a second of arc (30 m), and a city has no exact position.
 */
export function roundDegrees(degrees: number): number {
  return Math.round(degrees * 1e4) / 1e4 + 0;
}
