import { beforeEach, describe, expect, it } from "vitest";
import {
  createHistoryTables,
  type HistoryTables,
} from "../../../src/coordinator/history-tables.ts";
import { MemoryD1, MIGRATIONS } from "../../builders/memory-d1.ts";

const NOW = Date.parse("2026-11-20T12:00:00.000Z");

let d1: MemoryD1;
let tables: HistoryTables;
let hasSaved: boolean;
let lostAt: (string | null)[];

beforeEach(() => {
  d1 = new MemoryD1();
  hasSaved = false;
  lostAt = [];
  tables = createHistoryTables({
    d1: d1.binding,
    migrations: MIGRATIONS,
    state: { hasSavedRuns: () => hasSaved, setHistoryLost: (at) => void lostAt.push(at) },
    deadlineMs: 50,
    log: () => {},
    now: () => NOW,
  });
});

const read = () => tables.within(async () => d1.binding.prepare("SELECT * FROM audit").all());
const drop = (table: string) => d1.database.exec(`DROP TABLE ${table}`);

describe("the tables of the history", () => {
  it("come into being at the first call of a new database, which has lost nothing", async () => {
    expect(await read()).toMatchObject({ results: [] });
    expect(lostAt).toEqual([]);
  });

  it("are not looked for before a call", async () => {
    await tables.make();
    d1.calls.length = 0;
    await read();
    expect(d1.calls).toEqual(["SELECT * FROM audit"]);
  });

  it("are made again once one is missing, which is recorded as a loss", async () => {
    await tables.make();
    drop("audit");
    expect(await read()).toMatchObject({ results: [] });
    expect(lostAt).toEqual([new Date(NOW).toISOString()]);
  });

  it("count as lost if the database is new, but runs were saved before", async () => {
    hasSaved = true;
    await read();
    expect(lostAt).toHaveLength(1);
  });

  it("are made once for calls at the same time", async () => {
    await Promise.all([tables.make(), read(), read()]);
    expect(d1.calls.filter((call) => call === "batch")).toHaveLength(1 + MIGRATIONS.length);
  });

  it("are made by a later call if the database has not answered", async () => {
    d1.before = async () => new Promise(() => {});
    await expect(tables.make()).rejects.toThrow("D1: no answer in 50 ms");
    d1.before = () => {};
    await tables.make();
    expect(await read()).toMatchObject({ results: [] });
  });

  it.each([
    ["as a cause", new Error("Failed query", { cause: new Error("no such table: audit") }), 2],
    ["but another fault", new Error("D1_ERROR: no such column: mood"), 1],
    ["but nothing of an error", "no such table: audit", 1],
  ])("are made for a call that fails with a missing table %s", async (_, fault, calls) => {
    let called = 0;
    const call = tables.within(async () => {
      called += 1;
      throw fault;
    });
    await expect(call).rejects.toBe(fault);
    expect(called).toBe(calls);
  });
});
