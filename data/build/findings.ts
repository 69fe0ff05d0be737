import { repeated } from "./repeated.ts";
import type { Row } from "./snapshot-reader.ts";

/** Collects what does not hold. */
export class Findings {
  readonly problems: string[] = [];

  expect(holds: boolean, what: string): void {
    if (!holds) this.problems.push(what);
  }

  /** Both must be equal as text. */
  equal(found: unknown, expected: unknown, what: string): void {
    this.expect(
      String(found) === String(expected),
      `${what}: expected ${String(expected)}, found ${String(found)}`,
    );
  }

  /** The text must be one of those that are allowed. */
  oneOf(found: string | undefined, allowed: readonly string[], what: string): void {
    this.expect(
      found !== undefined && allowed.includes(found),
      `${what}: expected ${allowed.join(" or ")}, found ${found}`,
    );
  }

  /** Every row must pass; the first few that do not are named. */
  every(rows: readonly Row[], passes: (row: Row) => boolean, what: string): void {
    const failed = rows.filter((row) => !passes(row));
    const shown = failed.slice(0, 3).map((row) => JSON.stringify(row));
    this.expect(failed.length === 0, `${what}: ${failed.length} rows, ${shown.join(" ")}`);
  }

  unique(values: readonly string[], what: string): void {
    const twice = repeated(values);
    this.expect(twice.length === 0, `${what}: not unique: ${twice.slice(0, 5).join(" ")}`);
  }
}
