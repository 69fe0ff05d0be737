import { describe, expect, it } from "vitest";
import { createDatabaseCopy } from "../../../src/storage/database-copy.ts";
import { MemoryD1 } from "../../builders/memory-d1.ts";

function copyOf(schema: string) {
  const d1 = new MemoryD1();
  d1.database.exec(schema);
  return { d1, copy: createDatabaseCopy(d1.binding, ["visits", "lost"]) };
}

const TABLE = `
  CREATE TABLE visits (
    day TEXT NOT NULL, note TEXT, count INTEGER NOT NULL DEFAULT 0, place TEXT NOT NULL,
    PRIMARY KEY (place, day)
  )`;

describe("a copy of the database", () => {
  it("lists the columns of the primary key in the order of the key, and the columns that need a value", async () => {
    const { copy } = copyOf(TABLE);
    expect(await copy.tables()).toEqual([
      {
        name: "visits",
        columns: [
          { name: "day", required: true },
          { name: "note", required: false },
          { name: "count", required: false },
          { name: "place", required: true },
        ],
        key: ["place", "day"],
      },
    ]);
  });

  it("reads pages in the order of the key", async () => {
    const { d1, copy } = copyOf(TABLE);
    d1.database.exec(
      "INSERT INTO visits (place, day) VALUES ('b', '1'), ('a', '2'), ('a', '1'), ('b', '0')",
    );
    const [table] = await copy.tables();
    if (table === undefined) throw new Error("there is no table");
    const first = await copy.readPage(table, null, 2);
    expect(first.map(({ place, day }) => [place, day])).toEqual([
      ["a", "1"],
      ["a", "2"],
    ]);
    const rest = await copy.readPage(table, ["a", "2"], 5);
    expect(rest.map(({ place, day }) => [place, day])).toEqual([
      ["b", "0"],
      ["b", "1"],
    ]);
  });

  it("leaves out tables of others, also those that it could not copy", async () => {
    const { copy } = copyOf(`${TABLE}; CREATE TABLE notes (t TEXT); CREATE TABLE visit (day BLOB)`);
    expect((await copy.tables()).map(({ name }) => name)).toEqual(["visits"]);
  });
});
