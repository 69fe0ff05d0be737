import { env } from "cloudflare:workers";
import { drizzle } from "drizzle-orm/d1";
import { beforeEach, describe, expect, it } from "vitest";
import { createHistory, type HistoryRow, type RunQuery } from "../../../src/storage/run-history.ts";
import { MAX_PAGE_ROWS } from "../../../src/storage/page.ts";
import { ingestRuns } from "../../../src/storage/schema.ts";
import { nothingChanged } from "../../../src/ingest/change-sample.ts";
import type { Run } from "../../../src/schemas/run.ts";
import { aRunRecord } from "../../builders/run.ts";

const history = createHistory(env.HISTORY);

const DAY_MS = 24 * 60 * 60 * 1000;
const START = Date.parse("2026-11-01T00:00:00.000Z");
const timeOf = (ms: number) => new Date(ms).toISOString();

/** Id of the n-th run. */
const idOf = (n: number) => `019aa3c0-0000-7000-8000-${n.toString(16).padStart(12, "0")}`;

/** The n-th run, queued n minutes after `START` and over at once. */
function aRow(n: number, changes: Partial<Run> = {}, seq = n): HistoryRow {
  const at = timeOf(START + n * 60_000);
  const base = { id: idOf(n), queued_at: at, finished_at: at } as const;
  return {
    seq,
    run: { ...aRunRecord().job, ...base, state: "succeeded", outcome: "unchanged", ...changes },
  };
}

/** Saves the runs `from` to `to - 1`. */
async function saveRange(from: number, to: number, changes: (n: number) => Partial<Run>) {
  for (let start = from; start < to; start += 100) {
    const length = Math.min(100, to - start);
    await history.saveRuns(Array.from({ length }, (_, n) => aRow(start + n, changes(start + n))));
  }
}

async function list(query: Partial<RunQuery> = {}) {
  const page = await history.listRuns({ limit: 50, ...query });
  if (!page.ok) throw new Error(page.reason);
  const ids = page.runs.map(({ id }) => Number.parseInt(id.slice(-12), 16));
  return { ids, nextCursor: page.nextCursor, total: page.total };
}

/** The runs of every page, following the cursors. */
async function listAll(query: Partial<RunQuery>): Promise<number[][]> {
  const pages: number[][] = [];
  let cursor: string | undefined;
  do {
    const page = await list({ ...query, cursor });
    pages.push(page.ids);
    cursor = page.nextCursor ?? undefined;
  } while (cursor !== undefined);
  return pages;
}

beforeEach(async () => {
  await env.HISTORY.exec("DELETE FROM ingest_runs");
});

describe("saveRuns", () => {
  const rows = () => drizzle(env.HISTORY).select().from(ingestRuns).orderBy(ingestRuns.id);
  const seqAndState = async () => (await rows()).map(({ seq, state }) => [seq, state]);

  it.each([["succeeded"], ["failed"], ["cancelled"]] as const)(
    "ends a run as %s whatever its row is numbered, and a late write opens none",
    async (state) => {
      await history.saveRuns([aRow(1, { state: "running", outcome: null }, 9)]);
      await env.HISTORY.exec("UPDATE ingest_runs SET seq = 9223372036854775807");
      await history.saveRuns([aRow(1, { state }, 10)]);
      await history.saveRuns([aRow(1, { state: "running" }, 9)]);
      expect(await seqAndState()).toEqual([[10, state]]);
    },
  );

  it("saves a whole run, and replaces it by a later state", async () => {
    const counts = { seen: 3, kept: 2, rejected: 1, added: 1, changed: 0, removed: 0 };
    const first = aRow(1, {
      note: "ümläut '; DROP TABLE x; --",
      counts: { airports: counts, cities: counts, countries: counts, regions: counts },
      rejects: [{ reason: "bad_iata", line: 17, iata: "Z1", id: "9" }],
      changes: nothingChanged("en"),
    });
    await history.saveRuns([first]);
    expect(await history.findRun(first.run.id)).toEqual(first.run);
    const second = aRow(1, { finished_at: "2026-11-01T04:18:00.000Z", outcome: null }, 2);
    await history.saveRuns([second, second]);
    expect(await history.findRun(first.run.id)).toEqual(second.run);
    expect(await rows()).toMatchObject([
      { seq: 2, state: "succeeded", finished_at: "2026-11-01T04:18:00.000Z", outcome: null },
    ]);
  });

  it("does not let an earlier row replace a later one, in whatever order the calls arrive", async () => {
    await history.saveRuns([aRow(1, {}, 9)]);
    await history.saveRuns([aRow(1, { state: "running" }, 8)]);
    expect(await seqAndState()).toEqual([[9, "succeeded"]]);
    await history.saveRuns([aRow(2, { state: "failed" }, 12), aRow(2, { state: "queued" }, 11)]);
    expect(await seqAndState()).toEqual([
      [9, "succeeded"],
      [12, "failed"],
    ]);
  });

  it("writes either all rows or none", async () => {
    const broken = { ...aRow(2), seq: null } as unknown as HistoryRow; // bad on purpose
    await expect(history.saveRuns([aRow(1), broken])).rejects.toThrow();
    expect(await rows()).toEqual([]);
  });
});

describe("listRuns", () => {
  it("lists the newest run first, in whatever order the runs were saved", async () => {
    await history.saveRuns([2, 5, 1, 4, 3].map((n) => aRow(n)));
    expect(await list()).toEqual({ ids: [5, 4, 3, 2, 1], nextCursor: null, total: 5 });
  });

  it("does not read the changes of a run, which may be long", async () => {
    await history.saveRuns([aRow(1, { changes: nothingChanged("en") })]);
    const page = await history.listRuns({ limit: 1 });
    if (!page.ok) throw new Error(page.reason);
    expect(page.runs).toHaveLength(1);
    expect(page.runs[0]).not.toHaveProperty("changes");
    expect(await history.findRun(idOf(1))).toMatchObject({ changes: nothingChanged("en") });
  });

  it("ends exactly at the last run, without an empty page after a full one", async () => {
    await history.saveRuns([1, 2, 3, 4].map((n) => aRow(n)));
    expect(await listAll({ limit: 2 })).toEqual([
      [4, 3],
      [2, 1],
    ]);
    expect(await listAll({ limit: 4 })).toEqual([[4, 3, 2, 1]]);
    expect(await listAll({ limit: 3 })).toEqual([[4, 3, 2], [1]]);
  });

  it("lists each run once, even if new ones arrive between two pages", async () => {
    await history.saveRuns([1, 2, 3, 4].map((n) => aRow(n)));
    const first = await list({ limit: 2 });
    await history.saveRuns([aRow(5), aRow(6)]);
    const second = await list({ limit: 2, cursor: first.nextCursor ?? "" });
    expect([first.ids, second.ids]).toEqual([
      [4, 3],
      [2, 1],
    ]);
    expect(second).toMatchObject({ nextCursor: null, total: 6 });
  });

  it("counts all matching runs on each page", async () => {
    await saveRange(0, 7, (n) => ({ state: n % 2 === 0 ? "failed" : "succeeded" }));
    const first = await list({ state: "failed", limit: 3 });
    expect(first).toMatchObject({ ids: [6, 4, 2], total: 4 });
    expect(await list({ state: "failed", limit: 3, cursor: first.nextCursor ?? "" })).toEqual({
      ids: [0],
      nextCursor: null,
      total: 4,
    });
  });

  it("leaves runs out, however many are named", async () => {
    await saveRange(0, 200, (n) => ({ state: n % 2 === 0 ? "succeeded" : "failed" }));
    const ids = Array.from({ length: 198 }, (_, n) => idOf(n));
    const page = await history.listRuns({ limit: 9, state: "failed" }, ids);
    expect(page).toMatchObject({ runs: [{ id: idOf(199) }], total: 1 });
  });

  describe("with filters", () => {
    beforeEach(async () => {
      await history.saveRuns([
        aRow(1, { trigger: "resume", outcome: "published" }),
        aRow(2, { trigger: "cron" }),
        aRow(3, { trigger: "cron", state: "failed", outcome: null }),
        aRow(4, { trigger: "manual", outcome: "published" }),
        aRow(5, { trigger: "cron", state: "queued", outcome: null }),
      ]);
    });

    it.each<{ query: Partial<RunQuery>; ids: number[] }>([
      { query: { state: "succeeded" }, ids: [4, 2, 1] },
      { query: { outcome: "published" }, ids: [4, 1] },
      { query: { trigger: "cron" }, ids: [5, 3, 2] },
      { query: { trigger: "cron", state: "succeeded" }, ids: [2] },
      { query: { trigger: "manual", outcome: "published", state: "succeeded" }, ids: [4] },
      { query: { outcome: "' OR 1=1 --" }, ids: [] },
      { query: { sinceMs: START + 3 * 60_000 }, ids: [5, 4, 3] },
      { query: { untilMs: START + 3 * 60_000 }, ids: [2, 1] },
      { query: { sinceMs: START + 2 * 60_000, untilMs: START + 4 * 60_000 }, ids: [3, 2] },
      { query: { trigger: "cron", sinceMs: START + 3 * 60_000 }, ids: [5, 3] },
    ])("lists for $query of five runs $ids", async ({ query, ids }) => {
      expect(await list(query)).toEqual({ ids, nextCursor: null, total: ids.length });
      expect((await listAll({ ...query, limit: 1 })).flat()).toEqual(ids);
    });
  });

  it("accepts pages of 1 to 200 runs, and throws for any other number", async () => {
    await saveRange(0, MAX_PAGE_ROWS + 1, () => ({}));
    expect((await list({ limit: 200 })).ids).toHaveLength(200);
    for (const limit of [0, -1, 1.5, 201, Number.NaN])
      await expect(history.listRuns({ limit })).rejects.toThrow(RangeError);
  });

  it.each([
    { column: "state", value: "failed" },
    { column: "outcome", value: "published" },
    { column: "trigger", value: "cron" },
  ])("searches by $column through an index in the right order", async ({ column, value }) => {
    const { results } = await env.HISTORY.prepare(
      `EXPLAIN QUERY PLAN SELECT * FROM ingest_runs WHERE ${column} = ? AND id < ? ORDER BY id DESC`,
    )
      .bind(value, idOf(9))
      .all<{ detail: string }>();
    expect(results.map(({ detail }) => detail)).toEqual([
      `SEARCH ingest_runs USING INDEX ingest_runs_by_${column} (${column}=? AND id<?)`,
    ]);
  });
});

describe("findRun", () => {
  it("returns null for an unknown id", async () => {
    await history.saveRuns([aRow(1)]);
    expect(await history.findRun(idOf(2))).toBeNull();
    expect(await history.findRun("")).toBeNull();
  });
});

describe("deleteOldRuns", () => {
  const now = START + 400 * DAY_MS;
  const endedDaysAgo = (days: number) => {
    const at = timeOf(now - days * DAY_MS);
    return { queued_at: at, finished_at: at };
  };

  it("deletes the oldest of more than 1,000 runs, and keeps the newest 1,000", async () => {
    await saveRange(0, 1_003, () => endedDaysAgo(300));
    expect(await history.deleteOldRuns(now)).toBe(3);
    expect(await history.findRun(idOf(2))).toBeNull();
    expect(await history.findRun(idOf(3))).not.toBeNull();
    expect((await list()).total).toBe(1_000);
    expect(await history.deleteOldRuns(now)).toBe(0);
  });

  it("keeps every run of the last 90 days to the millisecond, however many there are", async () => {
    const exactly = timeOf(now - 90 * DAY_MS);
    const longer = timeOf(now - 90 * DAY_MS - 1);
    await history.saveRuns([
      aRow(1, { queued_at: longer, finished_at: longer }),
      aRow(2, { queued_at: exactly, finished_at: exactly }),
      aRow(3, { queued_at: longer, finished_at: exactly }),
      aRow(4, { queued_at: longer, finished_at: null, state: "skipped" }),
      aRow(5, { queued_at: exactly, finished_at: null, state: "skipped" }),
    ]);
    await saveRange(10, 1_010, () => endedDaysAgo(1));
    expect(await history.deleteOldRuns(now)).toBe(2);
    expect((await listAll({ limit: 200 })).flat().slice(-4)).toEqual([10, 5, 3, 2]);
  });

  it("keeps a run that has not ended, however old it is", async () => {
    await history.saveRuns([
      aRow(1, { ...endedDaysAgo(200), finished_at: null, state: "queued", outcome: null }),
      aRow(2, { ...endedDaysAgo(200), finished_at: null, state: "running", outcome: null }),
      aRow(3, { ...endedDaysAgo(200), state: "cancelled", outcome: null }),
    ]);
    await saveRange(10, 1_010, () => endedDaysAgo(1));
    expect(await history.deleteOldRuns(now)).toBe(1);
    expect(await history.findRun(idOf(1))).not.toBeNull();
    expect(await history.findRun(idOf(2))).not.toBeNull();
  });
});
