import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { listRuns } from "../../../../src/admin/ingest/find-runs.ts";
import { createHistory } from "../../../../src/storage/run-history.ts";
import { type Run, RUN_STATES } from "../../../../src/schemas/run.ts";
import { anId } from "../../../builders/an-id.ts";
import { MemoryD1 } from "../../../builders/memory-d1.ts";
import { aRunRecord } from "../../../builders/run.ts";

const someRuns = fc
  .uniqueArray(fc.tuple(fc.integer({ min: 1, max: 30 }), fc.constantFrom(...RUN_STATES)), {
    selector: ([number]) => number,
    maxLength: 20,
  })
  .map((runs) => runs.map(([number, state]): Run => aRunRecord({ id: anId(number), state }).job));

describe("listRuns", () => {
  it("returns each run once in its present state, newest first, whatever the size of the pages", async () => {
    const d1 = MemoryD1.migrated();
    const history = createHistory(d1.binding);
    await fc.assert(
      fc.asyncProperty(
        someRuns,
        someRuns,
        fc.integer({ min: 1, max: 7 }),
        fc.option(fc.constantFrom(...RUN_STATES), { nil: undefined }),
        async (saved, unwritten, limit, state) => {
          d1.database.exec("DELETE FROM ingest_runs");
          await history.saveRuns(saved.map((run) => ({ seq: 1, run })));
          const now = new Map([...saved, ...unwritten].map((run) => [run.id, run.state]));
          const wanted = [...now]
            .filter(([, its]) => state === undefined || its === state)
            .toSorted(([a], [b]) => (a < b ? 1 : -1));
          const seen: [string, string][] = [];
          let cursor: string | undefined;
          do {
            const page = await listRuns(history, { limit, cursor, state }, unwritten);
            if (!page.ok) throw new Error(page.reason);
            expect(page.runs.length).toBeLessThanOrEqual(limit);
            expect(page.total).toBe(wanted.length);
            seen.push(...page.runs.map((run): [string, string] => [run.id, run.state]));
            cursor = page.nextCursor ?? undefined;
          } while (cursor !== undefined);
          expect(seen).toEqual(wanted);
        },
      ),
      { numRuns: 200 },
    );
  });

  it("leaves out rows that are no runs, which a restore has brought", async () => {
    const d1 = MemoryD1.migrated();
    const history = createHistory(d1.binding);
    await history.saveRuns([{ seq: 1, run: aRunRecord({ id: anId(9), state: "succeeded" }).job }]);
    for (const [number, text] of ["null", "{}", "[]", "5", '{"id":"zzzz"}'].entries())
      d1.database.exec(
        `INSERT INTO ingest_runs (id, seq, run) VALUES ('${anId(number)}', 1, '${text}')`,
      );
    const page = await listRuns(history, { limit: 9, cursor: undefined }, []);
    expect(page).toMatchObject({ ok: true, runs: [{ id: anId(9) }] });
    expect(await history.findRun(anId(1))).toBeNull();
  });
});
