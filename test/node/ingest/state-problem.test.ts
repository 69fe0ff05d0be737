import { describe, expect, it } from "vitest";
import { stateProblem } from "../../../src/ingest/state-problem.ts";
import { CoordinatorWorld } from "../../builders/coordinator-world.ts";
import { aManifest } from "../../builders/manifest.ts";
import { aRunRecord } from "../../builders/run.ts";

const record = aRunRecord();
const { run } = record;
const without = (of: object, name: string) =>
  Object.fromEntries(Object.entries(of).filter(([key]) => key !== name));
const pause = { at: "2026-11-01T04:00:00.000Z", by: "ops", reason: null, until: null };

describe("a row of the coordinator's tables", () => {
  it("can be worked with when the coordinator has written it", async () => {
    const world = new CoordinatorWorld();
    await world.publishVersions(2);
    await world.coordinator.pause({ by: "ops", reason: null, until: null }, false);
    await world.coordinator.tick("0 4 * * *", world.time, {
      source: null,
      candidate: null,
      mode: "incremental",
      forced: false,
      trigger: "cron",
      requestedBy: "cron",
      note: null,
      ifPaused: "queue",
    });
    for (const table of ["runs", "versions", "outbox", "ticks", "facts", "blobs"]) {
      const rows = world.tables.sql.exec(`SELECT * FROM ${table}`).toArray();
      expect(rows.length, table).toBeGreaterThan(0);
      for (const row of rows) expect(stateProblem(table, row)).toBeUndefined();
    }
  });

  it.each<[string, string, { readonly [column: string]: string | number }]>([
    [
      "a run that waits for D1 and lacks a column",
      "outbox",
      { seq: 1, run: JSON.stringify(without(run, "trigger")) },
    ],
    ["a run that is no JSON", "outbox", { seq: 1, run: "{" }],
    [
      "a run of a state that there is not",
      "runs",
      {
        id: run.id,
        state: "lost",
        record: JSON.stringify({ ...record, run: { ...run, state: "lost" } }),
      },
    ],
    [
      "a run under another id",
      "runs",
      { id: "another", state: run.state, record: JSON.stringify(record) },
    ],
    [
      "a run in another state than its row",
      "runs",
      { id: run.id, state: "failed", record: JSON.stringify(record) },
    ],
    [
      "a run without a checkpoint",
      "runs",
      { id: run.id, state: run.state, record: JSON.stringify(without(record, "checkpoint")) },
    ],
    [
      "a version of another generation",
      "versions",
      { generation: 9, manifest: JSON.stringify(aManifest()) },
    ],
    [
      "a version that lacks its locales",
      "versions",
      { generation: 1, manifest: JSON.stringify(without(aManifest(), "locales")) },
    ],
    ["a pause by nobody", "facts", { name: "pause", value: JSON.stringify(without(pause, "by")) }],
    [
      "a pause until no time",
      "facts",
      { name: "pause", value: JSON.stringify({ ...pause, until: "soon" }) },
    ],
    ["a fact that is no JSON", "facts", { name: "pause", value: "" }],
    ["a generation that is none", "facts", { name: "unreplicated", value: "-1" }],
    [
      "archived files without hashes",
      "facts",
      { name: "archived:embedded", value: '{"airports.csv":{}}' },
    ],
    ["an audit entry by nobody", "audit_outbox", { id: "1", entry: "{}" }],
    ["a tick at no time", "ticks", { cron: "0 4 * * *", at: "noon" }],
  ])("cannot when it is %s", (_, table, row) => {
    expect(stateProblem(table, row)).toMatch(new RegExp(`^${table}: `));
  });

  it("may have what a later version of the code adds", () => {
    const later = JSON.stringify({ ...run, mood: "cheerful" });
    expect(stateProblem("outbox", { seq: 1, run: later })).toBeUndefined();
    expect(stateProblem("facts", { name: "later", value: "{}" })).toBeUndefined();
  });
});
