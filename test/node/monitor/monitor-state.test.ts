import { expect, it } from "vitest";
import { NEW_TARGET } from "../../../src/monitor/deliveries.ts";
import { MONITOR_SCHEMA, MonitorState } from "../../../src/monitor/monitor-state.ts";
import { migrate } from "../../../src/storage/object-tables.ts";
import { MemoryTables } from "../../builders/memory-tables.ts";

const ops = { name: "ops", kind: "slack", url: "https://example.org/ops", key: null } as const;
const SILENT = { log: () => {}, now: () => 0 };

it("a state of the first version opens, and its webhooks were notified of nothing", () => {
  const tables = new MemoryTables();
  migrate(tables, "alert monitor", MONITOR_SCHEMA.slice(0, 1));
  for (const table of ["targets", "deliveries"])
    tables.sql.exec(`INSERT INTO ${table} VALUES ('ops', '{"failures":1,"isOpen":true}')`);
  tables.sql.exec("INSERT INTO facts VALUES ('since', '5')");
  const state = new MonitorState(tables, SILENT);
  expect(state.target(ops)).toEqual(NEW_TARGET);
  expect(tables.sql.exec("SELECT key FROM targets").toArray()).toEqual([]);
  expect(state.values.get("since")).toBe(5);
});

it("a state of the second version keeps its alerts, and what each webhook knows", () => {
  const tables = new MemoryTables();
  migrate(tables, "alert monitor", MONITOR_SCHEMA.slice(0, 2));
  const insert = (table: string, value: object) =>
    tables.sql.exec(`INSERT INTO ${table} VALUES ('a', ?)`, JSON.stringify(value));
  const track = { state: "firing", goods: 1 };
  insert("alerts", { track, last: { message: 'is "goods": bad' } });
  insert("targets", { known: { a: { told: ["fired"] } }, lastError: '"told":' });
  insert("facts", ["kept"]);
  migrate(tables, "alert monitor", MONITOR_SCHEMA);
  const [alert, target, value] = ["alerts", "targets", "single_values"].map((table) =>
    JSON.parse(String(tables.sql.exec(`SELECT value FROM ${table}`).toArray()[0]?.["value"])),
  );
  expect(alert).toEqual({
    track: { state: "firing", consecutiveGood: 1 },
    last: { message: 'is "goods": bad' },
  });
  expect(target).toEqual({ known: { a: { notified: ["fired"] } }, lastError: '"told":' });
  expect(value).toEqual(["kept"]);
});

it("a webhook is known by its name and URL, and forgotten with either", () => {
  const state = new MonitorState(new MemoryTables(), SILENT);
  const failing = { ...NEW_TARGET, failures: 3 };
  state.setTarget(ops, failing);
  expect(state.target({ ...ops, kind: "webhook" })).toEqual(failing);
  for (const other of [
    { ...ops, name: "chat" },
    { ...ops, url: "https://example.org/other" },
  ]) {
    expect(state.target(other)).toEqual(NEW_TARGET);
    state.keepTargets([other]);
    expect(state.target(ops)).toEqual(NEW_TARGET);
    state.setTarget(ops, failing);
  }
  state.keepTargets([ops]);
  expect(state.target(ops)).toEqual(failing);
});
