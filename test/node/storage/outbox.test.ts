import { beforeEach, describe, expect, it } from "vitest";
import * as z from "zod";
import { ObjectTables } from "../../../src/storage/object-tables.ts";
import { Outbox } from "../../../src/storage/outbox.ts";
import { MemoryTables } from "../../builders/memory-tables.ts";

const START = Date.parse("2026-11-01T04:17:00.000Z");

let time: number;
let asked: number;
let outbox: Outbox<string>;

/** The clock, which no delivery needs to ask so often. */
function now(): number {
  if (++asked > 100) throw new Error("the delivery never ends");
  return time;
}

beforeEach(() => {
  time = START;
  asked = 0;
  const tables = new MemoryTables();
  tables.sql.exec(
    "CREATE TABLE outgoing (seq INTEGER PRIMARY KEY AUTOINCREMENT, outbox TEXT, id TEXT, value TEXT, UNIQUE (outbox, id))",
  );
  const stored = new ObjectTables(tables, { log: () => {}, now: () => time });
  outbox = new Outbox(stored, { name: "history", schema: z.string() });
  for (let row = 0; row < 45; row++) outbox.add(`row ${row}`);
});

/** Delivers, and returns how many rows each call had. */
async function drain(send: (rows: number) => void): Promise<void> {
  await outbox.drain({
    send: async (rows) => send(rows.length),
    deadlineMs: 60_000,
    now,
    log: () => {},
  });
}

describe("an outbox", () => {
  it("sends all rows in batches", async () => {
    const sent: number[] = [];
    await drain((rows) => void sent.push(rows));
    expect(sent).toEqual([20, 20, 5]);
    expect(outbox.dueAt(time)).toBeNull();
  });

  it("is refused once, and tries again after half a minute and not before", async () => {
    let calls = 0;
    const refuse = () => {
      calls++;
      throw new Error("D1_ERROR");
    };
    for (const [laterMs, tried] of [
      [0, 1],
      [1, 1],
      [29_998, 1],
      [1, 2],
      [0, 2],
    ] as const) {
      time += laterMs;
      await drain(refuse);
      expect(calls).toBe(tried);
    }
    expect(outbox.dueAt(time)).toBe(time + 30_000);
    expect(outbox.length).toBe(45);
  });
});
