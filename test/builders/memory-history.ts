import type { HistoryRow } from "../../src/storage/run-history.ts";
import type { Run } from "../../src/schemas/run.ts";

/** The run history as D1 keeps it: the row of the highest sequence for each run. */
export class MemoryHistory {
  readonly rows = new Map<string, HistoryRow>();
  /** Sequences in the order in which they arrived, again if they came again. */
  readonly arrivals: number[] = [];

  save(rows: readonly HistoryRow[]): void {
    for (const { seq, run } of rows) {
      this.arrivals.push(seq);
      if ((this.rows.get(run.id)?.seq ?? 0) < seq) this.rows.set(run.id, { seq, run });
    }
  }

  /** Whether the row of a run has arrived in this state. */
  stateOf(id: string): Run["state"] | undefined {
    return this.rows.get(id)?.run.state;
  }
}
