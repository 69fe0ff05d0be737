import { describe, expect, it } from "vitest";
import { MONITOR_SCHEMA, MonitorState } from "../../../src/monitor/monitor-state.ts";
import { isOpen } from "../../../src/coordinator/jobs.ts";
import { INGEST } from "../../../src/coordinator/run-record.ts";
import { COORDINATOR_SCHEMA } from "../../../src/coordinator/tables.ts";
import { DAY_MS, HOUR_MS, timeText } from "../../../src/platform/time.ts";
import { migrate, type ObjectSchema } from "../../../src/storage/object-tables.ts";
import { AdminWorld } from "../../builders/admin-world.ts";
import { aBackupRequest } from "../../builders/backup-world.ts";
import { startEachFrom, START } from "../../builders/coordinator-world.ts";
import { NOW } from "../../builders/facts.ts";
import { READS } from "../../builders/hostile-trial.ts";
import { MemoryTables } from "../../builders/memory-tables.ts";
import { anEnqueueRequest } from "../../builders/run.ts";
import { resultOf } from "../../builders/monitor-world.ts";
import { numberPaths, withNumber } from "../../builders/stored-numbers.ts";

/** What no Worker has stored. */
const UNREADABLE = [
  "",
  "{",
  "\u0000",
  "null",
  "-1",
  "1e999",
  "[]",
  "{}",
  '"9999-99-99"',
  '[null,"x"]',
  '{"at":"tomorrow","by":null}',
  '{"work":"ingest","job":{"state":"running"},"checkpoint":null}',
  '{"work":"mining","job":{"state":"running"},"checkpoint":{}}',
  JSON.stringify({ track: { since: 8.64e18 }, last: {} }),
];

/** The column of the key and of the JSON in each table with values. */
const COLUMNS: { readonly [table: string]: readonly [key: string, value: string] } = {
  jobs: ["id", "record"],
  versions: ["generation", "manifest"],
  decisions: ["seq", "decision"],
  outgoing: ["seq", "value"],
  ticks: ["key", "value"],
  single_values: ["key", "value"],
  garbage: ["key", "value"],
  alerts: ["key", "value"],
  targets: ["key", "value"],
};

function tablesOf(schema: ObjectSchema): string[] {
  const tables = new MemoryTables();
  migrate(tables, "object", schema);
  const query =
    "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT GLOB 'sqlite_*' AND name <> 'schema_version'";
  return tables.sql
    .exec(query)
    .toArray()
    .map(({ name }) => String(name));
}

const world = new AdminWorld();
const { ingest, monitor } = world;

/** Gives the tables a row of every kind. */
async function fill(): Promise<void> {
  await world.makeHealthy();
  await ingest.coordinator.tick("17 4 * * *", ingest.time, {
    ...anEnqueueRequest({ trigger: "cron" }),
  });
  await ingest.drain();
  await world.installation.jobs.backUp(aBackupRequest());
  await ingest.enqueue();
  await ingest.coordinator.pause({ by: "ops", note: "bad data", until: null }, false);
  ingest.coordinator.decide([
    {
      id: "1-0000000000000000",
      verdict: "rejected",
      by: "ops",
      at: monitor.at(),
      note: null,
    },
  ]);
  ingest.state.garbage.mark(["a".repeat(64)], ingest.time, 1);
  ingest.state.values.set("retry_at:ourairports", ingest.time);
  ingest.state.setHistoryLost(monitor.at());
  monitor.ingest = { ...monitor.ingest, historyLostAt: monitor.at() };
  monitor.before = (call) => {
    if (call === "d1 save") throw new Error("D1_ERROR");
  };
  await monitor.tick();
}

startEachFrom(world, fill);

/** Puts a text in the place of every value of a table. */
function spoil({ sql }: MemoryTables, table: string, text: string): void {
  const [key = "", value = ""] = COLUMNS[table] ?? [];
  sql.exec(`UPDATE ${table} SET ${value} = ? WHERE ${key} NOT LIKE 'set_aside:%'`, text);
}

const schemas = { coordinator: COORDINATOR_SCHEMA, monitor: MONITOR_SCHEMA } as const;
const tables = Object.entries(schemas).flatMap(([object, schema]) =>
  tablesOf(schema).map((table) => [object as keyof typeof schemas, table] as const),
);

/** By how much a clock was fast that is right again. */
const FUTURES = [HOUR_MS, 400 * DAY_MS, Date.parse("9990-01-01T00:00:00.000Z") - NOW];
/** What never changes, whenever it was. */
const RECORDS = ["versions", "decisions", "outgoing"];
/** Fields that may lie in the future. */
const LATER = ["until", "next_due_at", "published_at"];

/** Changes the times of a table that must not lie in the future, and returns them as they were. */
function changeTimes(object: keyof typeof schemas, table: string, change: (ms: number) => number) {
  const { sql } = object === "coordinator" ? ingest.tables : monitor.tables;
  const [key = "", value = ""] = COLUMNS[table] ?? [];
  const others = `${key} NOT LIKE 'set_aside:%' AND ${key} NOT LIKE 'retry_at:%'`;
  const rows = sql.exec(
    `SELECT ${key} AS key, ${value} AS value FROM ${table} WHERE ${table === "jobs" ? "is_open = 1" : others}`,
  );
  return rows.toArray().flatMap((row) => {
    const found: number[] = [];
    const text = JSON.stringify(JSON.parse(String(row["value"])), (name, field: unknown) => {
      const isText = typeof field === "string" && /^\d{4}-.*T.*\dZ$/.test(field);
      const ms = isText ? Date.parse(field) : Number(field);
      if (LATER.includes(name) || !(ms > START)) return field;
      found.push(ms);
      return isText ? timeText(change(ms)) : change(ms);
    });
    sql.exec(`UPDATE ${table} SET ${value} = ? WHERE ${key} = ?`, text, String(row["key"]));
    return found;
  });
}

/** Reads what is read only now and then. */
function readAll(): void {
  ingest.coordinator.status();
  ingest.state.garbage.mark(["a".repeat(64)], ingest.time, DAY_MS);
  for (const name of ["collected_at", "history_lost"] as const) ingest.state.values.get(name);
  const state = new MonitorState(monitor.tables, { log: () => {}, now: () => monitor.time });
  for (const name of ["checked_at", "cleaned_at", "silent_since"] as const) state.values.get(name);
}

describe("the times of both Durable Objects", () => {
  const cases = tables
    .filter(([, table]) => table !== "ticks" && !RECORDS.includes(table))
    .flatMap(([object, table]) => FUTURES.map((ms) => [object, table, ms] as const));

  it.each(cases)("of the %s in %s, %i ms in the future, become now", async (object, table, ms) => {
    ingest.tables.sql.exec(
      "UPDATE jobs SET record = json_set(record, '$.notBefore', ?) WHERE is_open = 1",
      ingest.time,
    );
    const known = { raisedAt: NOW, deliveredAt: NOW, notified: ["fired"], severities: ["warn"] };
    monitor.tables.sql.exec(
      "UPDATE targets SET value = json_set(value, '$.known.x', json(?))",
      JSON.stringify(known),
    );
    expect(changeTimes(object, table, () => ingest.time + ms)).not.toEqual([]);
    world.restart();
    const before = ingest.time;
    await monitor.tick();
    await ingest.coordinator.reconcile();
    await ingest.coordinator.resume();
    await ingest.drain();
    expect(await ingest.runToEnd()).toMatchObject({ state: "succeeded" });
    expect(ingest.time - before).toBeLessThanOrEqual(HOUR_MS);
    readAll();
    const now = Math.max(ingest.time, monitor.time);
    const left = changeTimes(object, table, (time) => time);
    expect(left.filter((time) => time > now)).toEqual([]);
    monitor.ingest = { ...ingest.coordinator.status(), bestCoverage: {} };
    const { message } = resultOf(await monitor.tick(), "values_set_aside");
    expect(message).toContain(`dated in the future: ${table} `);
    for (const path of READS) expect((await world.request(path)).status, path).toBe(200);
  });

  it("stay if they are those of a record", async () => {
    for (const [object, table] of tables.filter(([, name]) => RECORDS.includes(name))) {
      const times = changeTimes(object, table, (time) => time + DAY_MS);
      world.restart();
      await monitor.tick();
      readAll();
      const left = changeTimes(object, table, (time) => time).filter((time) => time > monitor.time);
      expect(left).toEqual(times.map((time) => time + DAY_MS));
    }
    const { sql } = ingest.tables;
    const at = timeText(ingest.time + DAY_MS);
    sql.exec("UPDATE versions SET manifest = json_set(manifest, '$.published_at', ?)", at);
    sql.exec(
      "UPDATE single_values SET value = json_set(value, '$.published_at', ?) WHERE key = 'ledger'",
      at,
    );
    world.restart();
    expect(ingest.state.savedLedger()).not.toBeNull();
  });
});

describe("the values of both Durable Objects", () => {
  it.each(tables)("of the %s in %s, whatever they are, stop nothing", async (object, table) => {
    const stored = object === "coordinator" ? ingest.tables : monitor.tables;
    for (const text of UNREADABLE) {
      spoil(stored, table, text);
      world.restart();
      for (const path of READS)
        expect((await world.request(path)).status, `${path} ${text}`).toBe(200);
      await monitor.tick();
      const { pause } = ingest.coordinator.status();
      expect(pause, "a pause is lost").not.toBeNull();
      await ingest.coordinator.reconcile();
      await ingest.alarm();
      await ingest.alarm();
    }
    const found =
      object === "coordinator" ? ingest.coordinator.setAside() : monitor.monitor.setAside();
    expect(found.map((value) => value.table)).toContain(table);
    monitor.ingest = { ...ingest.coordinator.status(), bestCoverage: {} };
    expect(resultOf(await monitor.tick(), "values_set_aside").state).toBe("firing");
    const forgotten = await world.request("/admin/monitor/set-aside", { method: "DELETE" });
    expect(await forgotten.json()).toMatchObject({ changed: true, [object]: found });
    // An installation that has lost its id takes its stores over.
    await ingest.coordinator.takeOver("ops");
    await ingest.coordinator.resume();
    expect(await ingest.runToEnd()).toMatchObject({ state: "succeeded" });
    expect(await world.installation.backUp()).toMatchObject({ verdict: "verified" });
  });

  it("are kept for operators up to a hundred, however many were set aside", async () => {
    const { sql } = ingest.tables;
    for (let row = 0; row < 300; row++)
      sql.exec("INSERT INTO outgoing (outbox, id, value) VALUES ('history', ?, '{')", String(row));
    await ingest.alarm();
    expect(ingest.coordinator.setAside()).toHaveLength(100);
    expect(ingest.coordinator.status().outboxLength).toBe(0);
  });

  it.each([
    ["names another job", ["'$.job.id'", "'019aa3c0-0000-7000-8000-00000000ffff'"]],
    [
      "has committed without its files",
      ["'$.isCommitted', json('true'), '$.checkpoint.sources'", "5"],
    ],
  ])("stop nothing if the record of a job %s", async (_, [path, value]) => {
    const { sql } = ingest.tables;
    sql.exec(`UPDATE jobs SET record = json_set(record, ${path}, ${value}) WHERE is_open = 1`);
    ingest.crash();
    await ingest.coordinator.resume();
    expect(ingest.coordinator.setAside().map(({ table }) => table)).toContain("jobs");
    expect(await ingest.runToEnd()).toMatchObject({ state: "succeeded" });
  });
});

/** Other numbers, as a column of whole numbers can hold them. */
const WHOLE_NUMBERS = [
  "-1",
  "2000000000",
  "9007199254740991",
  "9007199254740993",
  "9223372036854775807",
];

/** Other numbers, as JSON can write them. */
const NUMBERS = ["-1", "0.5", "9007199254740991", "9007199254740993", "1e400"];

describe("the numbers of both Durable Objects", () => {
  /** Starts again, does everything once, and returns what was set aside by then. */
  async function pass(what: string): Promise<string[]> {
    world.restart();
    for (const path of READS) expect((await world.request(path)).status, what).toBe(200);
    readAll();
    await monitor.tick();
    if (ingest.coordinator.status().foreign !== null) await ingest.coordinator.takeOver("ops");
    await ingest.coordinator.reconcile();
    await ingest.coordinator.resume();
    await ingest.drain();
    expect(await ingest.runToEnd({ forced: true }), what).toMatchObject({ state: "succeeded" });
    expect(await ingest.served(), what).toEqual(ingest.current());
    const found = [...ingest.coordinator.setAside(), ...monitor.monitor.setAside()];
    return found.map(({ table, key }) => `${table} ${key}`);
  }

  it.each(tables)(
    "of the %s in %s are set aside, or can be kept and increased",
    async (object, table) => {
      const { sql } = object === "coordinator" ? ingest.tables : monitor.tables;
      const [key = "", value = ""] = COLUMNS[table] ?? [];
      const rows = sql.exec(`SELECT ${key} AS key, ${value} AS value FROM ${table}`).toArray();
      const values = rows.map((row) => [row["key"], JSON.parse(String(row["value"]))] as const);
      const paths = new Set(values.flatMap(([, stored]) => numberPaths(stored).map(String)));
      const goBack = world.remember();
      for (const path of paths)
        for (const number of NUMBERS) {
          const what = `${path} of ${number}`;
          goBack();
          for (const [of, stored] of values)
            if (numberPaths(stored).map(String).includes(path))
              sql.exec(
                `UPDATE ${table} SET ${value} = ? WHERE ${key} = ?`,
                withNumber(stored, path === "" ? [] : path.split(","), number),
                String(of),
              );
          const before = await pass(what);
          const after = await pass(what);
          expect(
            after.filter((row) => !before.includes(row)),
            what,
          ).toEqual([]);
        }
      expect(values).not.toEqual([]);
    },
  );

  /** The columns of numbers, and the table with the numbers that were given last. */
  const columns = tables.flatMap(([object, table]) => {
    const stored = new MemoryTables();
    migrate(stored, object, schemas[object]);
    const info = stored.sql.exec(`PRAGMA table_info(${table})`).toArray();
    const numbers = info.filter(({ type }) => type === "INTEGER").map(({ name }) => String(name));
    const given = numbers.includes("seq") ? [[object, "sqlite_sequence", "seq"] as const] : [];
    return [...numbers.map((column) => [object, table, column] as const), ...given];
  });

  it.each(columns)(
    "of the %s in %s.%s stop nothing, and lose only versions",
    async (object, table, column) => {
      const { sql } = object === "coordinator" ? ingest.tables : monitor.tables;
      const goBack = world.remember();
      for (const number of WHOLE_NUMBERS) {
        const what = `${column} of ${number}`;
        goBack();
        const chosen =
          table === "sqlite_sequence" ? "" : `WHERE rowid = (SELECT max(rowid) FROM ${table})`;
        sql.exec(`UPDATE ${table} SET ${column} = ${number} ${chosen}`);
        await pass(what);
        const isLost = ingest.coordinator.setAside().map((row) => row.table);
        expect(isLost, what).toEqual(table === "versions" ? ["versions"] : []);
        ingest.coordinator.decide([
          {
            id: "2-0000000000000000",
            verdict: "rejected",
            by: "ops",
            at: monitor.at(),
            note: null,
          },
        ]);
        expect(await pass(what), what).toHaveLength(isLost.length);
        const { decisions } = ingest.coordinator.ledger();
        expect(
          decisions.map(({ id }) => id),
          what,
        ).toEqual(["1-0000000000000000", "2-0000000000000000"]);
        expect(
          ingest.state.jobs.newest(INGEST).filter(({ job }) => isOpen(job.state)),
          what,
        ).toEqual([]);
      }
    },
  );
});
