import { env } from "cloudflare:workers";
import { drizzle } from "drizzle-orm/d1";
import { beforeEach, describe, expect, it } from "vitest";
import { createHistory, type HistoryRow } from "../../../src/ingest/history.ts";
import { ingestRuns } from "../../../src/storage/schema.ts";
import { nothingChanged } from "../../../src/ingest/change-sample.ts";
import type { Run } from "../../../src/ingest/run.ts";
import { aRunRecord } from "../../builders/run.ts";

const history = createHistory(env.HISTORY);

beforeEach(async () => {
  await env.HISTORY.exec("DELETE FROM ingest_runs");
});

function aRow(seq: number, changes: Partial<Run> = {}): HistoryRow {
  return { seq, run: { ...aRunRecord().job, ...changes } };
}

const rows = () => drizzle(env.HISTORY).select().from(ingestRuns).orderBy(ingestRuns.id);

const seqAndState = async () => (await rows()).map(({ seq, state }) => [seq, state]);

describe("saveRuns", () => {
  it("keeps a run as it was given, and replaces it whole by a later state of it", async () => {
    const counts = { seen: 3, kept: 2, rejected: 1, added: 1, changed: 0, removed: 0 };
    const first = aRow(1, {
      note: "ümläut '; DROP TABLE x; --",
      counts: { airports: counts, cities: counts, countries: counts, regions: counts },
      rejects: [{ reason: "bad_iata", line: 17, iata: "Z1", id: "9" }],
      changes: nothingChanged("en"),
    });
    await history.saveRuns([first]);
    expect(await history.findRun(first.run.id)).toEqual(first.run);
    const second = aRow(2, { state: "succeeded", finished_at: "2026-11-01T04:18:00.000Z" });
    await history.saveRuns([second]);
    expect(await history.findRun(first.run.id)).toEqual(second.run);
    expect(await rows()).toMatchObject([
      { seq: 2, state: "succeeded", finished_at: "2026-11-01T04:18:00.000Z", outcome: null },
    ]);
  });

  it("does not let an earlier row replace a later one, however the calls are ordered", async () => {
    await history.saveRuns([aRow(9, { state: "succeeded" })]);
    await history.saveRuns([aRow(8, { state: "running" })]);
    expect(await seqAndState()).toEqual([[9, "succeeded"]]);
    await history.saveRuns([
      aRow(12, { id: "b", state: "failed" }),
      aRow(11, { id: "b", state: "queued" }),
    ]);
    expect(await seqAndState()).toEqual([
      [9, "succeeded"],
      [12, "failed"],
    ]);
  });

  it("changes nothing when the same rows come again", async () => {
    const batch = [aRow(1), aRow(2, { id: "b" }), aRow(3, { state: "running" })];
    await history.saveRuns(batch);
    const before = await rows();
    await history.saveRuns(batch);
    expect(await rows()).toEqual(before);
  });

  it("writes all rows or none", async () => {
    const broken = { ...aRow(2, { id: "b" }), seq: null } as unknown as HistoryRow; // bad on purpose
    await expect(history.saveRuns([aRow(1), broken])).rejects.toThrow();
    expect(await rows()).toEqual([]);
  });
});
