import { env } from "cloudflare:workers";
import { getTableColumns } from "drizzle-orm";
import { drizzle } from "drizzle-orm/d1";
import { beforeEach, describe, expect, it } from "vitest";
import { createHistory, type IngestRunRow } from "../../../src/storage/history.ts";
import { ingestRuns } from "../../../src/storage/schema.ts";
import { aRunRecord } from "../../builders/run.ts";

const history = createHistory(env.HISTORY);

beforeEach(async () => {
  await env.HISTORY.exec("DELETE FROM ingest_runs");
});

function aRow(changes: Partial<IngestRunRow> = {}): IngestRunRow {
  return { ...aRunRecord().run, seq: 1, ...changes };
}

/** A row with a value in every column, another one for each `seq`. */
function aFullRow(seq: number): IngestRunRow {
  const values: { readonly [type: string]: (name: string) => unknown } = {
    string: (name) => `${name} ${seq} ümläut '; DROP TABLE x; --`,
    number: () => seq,
    boolean: () => seq % 2 === 1,
    json: (name) => ({ [name]: [seq, null, 'KV said "429"'] }),
  };
  const row = Object.entries(getTableColumns(ingestRuns)).map(([name, { dataType }]) => [
    name,
    values[dataType]?.(name),
  ]);
  return { ...Object.fromEntries(row), id: "full" };
}

/** A row as it comes back: with its default, or null, for each column that was not given. */
function saved(row: IngestRunRow) {
  const given: { readonly [name: string]: unknown } = row;
  const columns = Object.entries(getTableColumns(ingestRuns));
  return Object.fromEntries(
    columns.map(([name, column]) => [name, given[name] ?? column.default ?? null]),
  );
}

const rows = () => drizzle(env.HISTORY).select().from(ingestRuns).orderBy(ingestRuns.id);

const seqAndState = async () => (await rows()).map(({ seq, state }) => [seq, state]);

describe("saveRuns", () => {
  it("keeps every column as it was given", async () => {
    await history.saveRuns([aFullRow(1)]);
    expect(await rows()).toEqual([aFullRow(1)]);
  });

  it("keeps what a waiting run does not have yet as null", async () => {
    await history.saveRuns([aRow()]);
    expect(await rows()).toEqual([saved(aRow())]);
    const { results } = await env.HISTORY.prepare(
      "SELECT outcome, accounting, error, generation_after FROM ingest_runs",
    ).all();
    expect(results).toEqual([
      { outcome: null, accounting: null, error: null, generation_after: null },
    ]);
  });

  it("replaces a row by a later one of the same run, in every column", async () => {
    await history.saveRuns([aFullRow(1)]);
    await history.saveRuns([aFullRow(2)]);
    expect(await rows()).toEqual([aFullRow(2)]);
  });

  it("does not let an earlier row replace a later one, however the calls are ordered", async () => {
    await history.saveRuns([aRow({ seq: 9, state: "succeeded" })]);
    await history.saveRuns([aRow({ seq: 8, state: "running" })]);
    expect(await seqAndState()).toEqual([[9, "succeeded"]]);
    await history.saveRuns([
      aRow({ id: "b", seq: 12, state: "failed" }),
      aRow({ id: "b", seq: 11, state: "queued" }),
    ]);
    expect(await seqAndState()).toEqual([
      [9, "succeeded"],
      [12, "failed"],
    ]);
  });

  it("changes nothing when the same rows come again", async () => {
    const batch = [aRow(), aRow({ id: "b", seq: 2 }), aRow({ seq: 3, state: "running" })];
    await history.saveRuns(batch);
    const before = await rows();
    await history.saveRuns(batch);
    expect(await rows()).toEqual(before);
  });

  it("takes a whole batch of the outbox, and nothing at all", async () => {
    const batch = Array.from({ length: 20 }, (_, n) => aRow({ id: `run-${n}`, seq: n + 1 }));
    await history.saveRuns(batch);
    await history.saveRuns([]);
    expect(await rows()).toHaveLength(20);
  });

  it("writes all rows or none", async () => {
    const broken = { ...aRow({ id: "b", seq: 2 }), state: null } as unknown as IngestRunRow; // bad on purpose
    await expect(history.saveRuns([aRow(), broken])).rejects.toThrow();
    expect(await rows()).toEqual([]);
  });
});
