/**
 * What fuzzing has found: inputs that were once taken, or refused too late, or brought down what read
 * them. The properties try them before anything random, so that none of them comes back.
 */

/** What followed the header of a table: each was held in memory to its end before it was refused. */
export const FOUND_IN_TABLES: readonly string[] = [
  "\n".repeat(50_002),
  `\n${",".repeat(300_000)}\n`,
  `\n1,${"x".repeat(300_000)}`,
  `\n1,"2\n${"3,4\n".repeat(80_000)}`,
];
