import { printTable } from "../../bench/report.ts";
import type { Violation } from "./evidence.ts";

/** Violations that are shown in full. */
const SHOWN = 20;

/** Counts the faults and the observations, and collects the violations. */
export class Report {
  readonly violations: Violation[] = [];
  readonly #counts = new Map<string, Map<string, number>>();

  count(table: string, row: string, times = 1): void {
    const rows = this.#counts.get(table) ?? new Map<string, number>();
    rows.set(row, (rows.get(row) ?? 0) + times);
    this.#counts.set(table, rows);
  }

  violate(violation: Violation): void {
    this.violations.push(violation);
    if (this.violations.length > SHOWN) return;
    const { invariant, what } = violation;
    process.stderr.write(`${new Date().toISOString()} VIOLATION ${invariant}: ${what}\n`);
  }

  /** All tables, each with its rows in order. */
  print(): string {
    const tables = [...this.#counts].map(([title, rows]) =>
      printTable({
        title,
        columns: ["", "times"],
        rows: [...rows]
          .toSorted(([a], [b]) => a.localeCompare(b))
          .map(([row, times]) => [row, String(times)]),
      }),
    );
    return tables.join("");
  }
}
