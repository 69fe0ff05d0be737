import { readdirSync, readFileSync } from "node:fs";
import { beforeEach, describe, expect, it } from "vitest";
import { MONITOR_SCHEMA } from "../../../src/monitor/monitor-state.ts";
import { sha256Hex } from "../../../src/catalog/bytes.ts";
import { COORDINATOR_SCHEMA } from "../../../src/coordinator/tables.ts";
import { migrate, type ObjectSchema, OtherVersion } from "../../../src/storage/object-tables.ts";
import { MemoryTables } from "../../builders/memory-tables.ts";

const FIRST = ["CREATE TABLE towns (name TEXT)", "INSERT INTO towns VALUES ('Bern')"];
const SECOND = ["ALTER TABLE towns ADD COLUMN size INTEGER", "UPDATE towns SET size = 1"];

let tables: MemoryTables;
const rows = (query: string) => tables.sql.exec(query).toArray();
const migrateTo = (...schema: ObjectSchema) => migrate(tables, "town clerk", schema);

beforeEach(() => {
  tables = new MemoryTables();
});

describe("the tables of a Durable Object", () => {
  it("come into being once, by all versions of the schema in their order", () => {
    migrateTo(FIRST, SECOND);
    migrateTo(FIRST, SECOND);
    expect(rows("SELECT * FROM towns")).toEqual([{ name: "Bern", size: 1 }]);
  });

  it("keep their rows when a later Worker changes them", () => {
    migrateTo(FIRST);
    tables.sql.exec("INSERT INTO towns VALUES ('Chur')");
    migrateTo(FIRST, SECOND);
    expect(rows("SELECT * FROM towns")).toEqual([
      { name: "Bern", size: 1 },
      { name: "Chur", size: 1 },
    ]);
  });

  it("stay as before if a statement of a new version fails, and the next start starts there", () => {
    migrateTo(FIRST);
    expect(() => migrateTo(FIRST, [...SECOND, "nonsense"])).toThrow("nonsense");
    expect(rows("SELECT * FROM towns")).toEqual([{ name: "Bern" }]);
    migrateTo(FIRST, SECOND);
    expect(rows("SELECT MAX(version) AS version FROM schema_version")).toEqual([{ version: 2 }]);
  });

  it("refuse a Worker by name, unchanged, if a later one has changed them", () => {
    migrateTo(FIRST, SECOND);
    const refused =
      "The tables of the town clerk have version 2, and this Worker knows versions up to 1. Deploy the newer Worker again.";
    expect(() => migrateTo(FIRST)).toThrow(new OtherVersion(refused));
    expect(rows("SELECT * FROM towns")).toEqual([{ name: "Bern", size: 1 }]);
  });
});

/**
 * What was deployed never changes: a deployment that has applied it would not apply it again. To change
 * a table, add a version here, or a D1 migration (`npm run generate`), with its hash.
 */
describe("a deployed schema", () => {
  const hashesOf = (schema: ObjectSchema) =>
    schema.map((version) => sha256Hex(JSON.stringify(version)).slice(0, 16));

  it("keeps each version of the coordinator's tables", () => {
    expect(hashesOf(COORDINATOR_SCHEMA)).toEqual([
      "28d1c5897eb015f8",
      "be8f6227758ee721",
      "f3ea12f59ac1f0c0",
      "2df5a6522de4dced",
      "6d067b6accf805e5",
    ]);
  });

  it("keeps each version of the alert monitor's tables", () => {
    expect(hashesOf(MONITOR_SCHEMA)).toEqual([
      "78c2be9c57931610",
      "8c8ef5a12990a50c",
      "9173b1654c134b1b",
    ]);
  });

  it("keeps each migration of D1", () => {
    const names = readdirSync("migrations").filter((name) => name.endsWith(".sql"));
    const migrations = names.toSorted().map((name) => {
      const text = readFileSync(`migrations/${name}`, "utf8");
      return [name, sha256Hex(text).slice(0, 16)];
    });
    expect(migrations).toEqual([
      ["0000_initial.sql", "0d2f615db4979a09"],
      ["0001_drop_unread.sql", "65bd717d53fea9ff"],
    ]);
  });
});
