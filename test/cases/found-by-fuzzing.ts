/**
 * What fuzzing has found: inputs that were once taken, or refused too late, or brought down what read
 * them. The properties try them before anything random, so that none of them comes back.
 */

/** Fields of a manifest by path and what they became: each was published once as it was. */
export const FOUND_IN_MANIFESTS: readonly (readonly [path: string, value: unknown])[] = [
  ["segments.0", "%"],
  ["locales.en.bodies.json.gzip", ["0".repeat(64), -1]],
  ["locales.en.bodies.json.gzip", ["0".repeat(64), 0.5]],
];

/** What followed the header of a table: each was held in memory to its end before it was refused. */
export const FOUND_IN_TABLES: readonly string[] = [
  "\n".repeat(50_002),
  `\n${",".repeat(300_000)}\n`,
  `\n1,${"x".repeat(300_000)}`,
  `\n1,"2\n${"3,4\n".repeat(80_000)}`,
];
