import { beforeEach, describe, expect, it } from "vitest";
import type { Decision } from "../../../src/acceptance/decisions.ts";
import { COORDINATOR_SCHEMA, DecisionTable } from "../../../src/coordinator/tables.ts";
import { ObjectTables } from "../../../src/storage/object-tables.ts";
import { migrate } from "../../../src/storage/object-tables.ts";
import { MemoryTables } from "../../builders/memory-tables.ts";

const decision = (id: string, verdict: Decision["verdict"] = "rejected"): Decision => ({
  id,
  verdict,
  by: "ops",
  at: "2026-11-02T00:00:00.000Z",
  note: null,
});

let table: DecisionTable;

beforeEach(() => {
  const tables = new MemoryTables();
  migrate(tables, "coordinator", COORDINATOR_SCHEMA);
  table = new DecisionTable(new ObjectTables(tables, { log: () => {}, now: () => 0 }));
});

describe("the table of decisions", () => {
  it("lists the latest decision about each change, in order of their numbers", () => {
    table.add([decision("1-a"), decision("2-b")]);
    table.add([decision("1-a", "approved")]);
    const [first, second] = table.list();
    expect([first, second]).toMatchObject([decision("2-b"), decision("1-a", "approved")]);
    expect(second?.seq).toBeGreaterThan(first?.seq ?? Infinity);
  });

  it("drops the approvals up to a number, and keeps rejections and later approvals", () => {
    table.add([decision("1-a", "approved"), decision("2-b")]);
    const followed = table.list().at(-1)?.seq ?? 0;
    table.add([decision("3-c", "approved")]);
    table.deleteApproved(followed);
    expect(table.list().map(({ id }) => id)).toEqual(["2-b", "3-c"]);
  });

  it("gives no number twice, also after the newest decision was deleted", () => {
    table.add([decision("1-a", "approved")]);
    const followed = table.list().at(-1)?.seq ?? 0;
    table.deleteApproved(followed);
    table.add([decision("2-b")]);
    expect(table.list()[0]?.seq).toBeGreaterThan(followed);
  });

  it("holds a decision about every airport, and forgets the oldest beyond 20,000", () => {
    const all = Array.from({ length: 20_001 }, (_, number) => decision(`${number}-x`));
    table.add(all);
    const kept = table.list();
    expect(kept).toHaveLength(20_000);
    expect(kept[0]?.id).toBe("1-x");
  });
});
