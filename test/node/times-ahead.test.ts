/**
 * Every place that compares times, with times of a clock that was ahead by an hour, by years, and
 * almost by all that a date can have: they count neither as newest nor as recent, and nothing waits
 * for them.
 */
import { describe, expect, it } from "vitest";
import * as z from "zod";
import { isUnbroken } from "../../src/acceptance/decisions.ts";
import { nextTrack, newTrack } from "../../src/monitor/alert-state.ts";
import { dueChange } from "../../src/monitor/deliveries.ts";
import { MonitorState } from "../../src/monitor/monitor-state.ts";
import { listBackups } from "../../src/backup/listing.ts";
import { type BackupTimes, newestTimes, readBackup } from "../../src/backup/read-backups.ts";
import { nextToStep, queueOf, stepTime } from "../../src/coordinator/jobs.ts";
import { createHistory } from "../../src/storage/run-history.ts";
import { GarbageTable } from "../../src/coordinator/tables.ts";
import { lastSuccess } from "../../src/monitor/catalog-rules.ts";
import { checkServed } from "../../src/monitor/catalog-checks.ts";
import { checkMonitor } from "../../src/monitor/service-checks.ts";
import type { Facts } from "../../src/monitor/facts.ts";
import type { RuleName } from "../../src/schemas/rule-names.ts";
import { evaluateRules } from "../../src/monitor/rules.ts";
import { backupManifestKey, backupNoteKey } from "../../src/storage/keys.ts";
import { ObjectTables } from "../../src/storage/object-tables.ts";
import { NEWEST_KEPT } from "../../src/storage/rows.ts";
import { SingleFlight } from "../../src/platform/once.ts";
import { TickTable } from "../../src/storage/object-tables.ts";
import { Outbox } from "../../src/storage/outbox.ts";
import { CLOCK_SKEW_MS, DAY_MS, durationOf, HOUR_MS, timeText } from "../../src/platform/time.ts";
import { idAt } from "../builders/an-id.ts";
import { BackupWorld } from "../builders/backup-world.ts";
import { CoordinatorWorld } from "../builders/coordinator-world.ts";
import {
  anEndedRun,
  DEFAULT_LIMITS,
  MINUTE_MS,
  NOW,
  type RoughStatus,
  someBackups,
  someFacts,
  withIngest,
  withManifest,
  withMonitor,
} from "../builders/facts.ts";
import { anAlertRun } from "../builders/alert-run.ts";
import { aManifest } from "../builders/manifest.ts";
import { MemoryD1 } from "../builders/memory-d1.ts";
import { MemoryTables } from "../builders/memory-tables.ts";
import { MonitorWorld, resultOf } from "../builders/monitor-world.ts";
import { ReaderWorld } from "../builders/reader-world.ts";
import { aQueue, aRunRecord } from "../builders/run.ts";
import { aBackup, GOOD_VERDICT } from "../builders/stored-backup.ts";

const SILENT = { log: () => {}, now: () => 0 };
const DAILY = "17 4 * * *";
const LONG_AGO = timeText(NOW - 30 * DAY_MS);

const AHEAD = {
  "an hour": HOUR_MS,
  "400 days": 400 * DAY_MS,
  "8,000 years": Date.parse("9990-01-01T00:00:00.000Z") - NOW,
};

/** Facts with a time ahead of now, in milliseconds since 1970, which a rule must find bad. */
const FACTS: readonly (readonly [what: string, rule: RuleName, facts: (at: number) => Facts])[] = [
  [
    "the end of a run",
    "catalog_stale",
    (at) => withIngest({ ended: [anEndedRun({ finished_at: timeText(at) })] }),
  ],
  [
    "a publication that no run has compared",
    "catalog_stale",
    (at) => ({
      ...withManifest({ published_at: timeText(at) }),
      ingest: withIngest({ ended: [] }).ingest,
    }),
  ],
  ["the date of the data", "data_old", (at) => withManifest({ as_of: timeText(at) })],
  [
    "the heartbeat of a run",
    "ingest_stuck",
    (at) => withIngest({ running: { id: "run-2", stage: "encode", heartbeat_at: timeText(at) } }),
  ],
  [
    "the heartbeat of a backup",
    "ingest_stuck",
    (at) =>
      withIngest({
        job: { id: "job-1", kind: "run", stage: "copy_tables", heartbeat_at: timeText(at) },
      }),
  ],
  [
    "the start of a run, beyond what a retry waits",
    "ingest_stuck",
    (at) =>
      withIngest({
        queued: [{ id: "run-2", queued_at: timeText(at) }],
        nextDueAt: timeText(at + HOUR_MS),
      }),
  ],
  [
    "the beginning of the coordinator's silence",
    "ingest_stuck",
    (at) => ({ ...withMonitor({ silentSince: at }), ingest: { ok: false, why: "it is away" } }),
  ],
  [
    "a publication that the stores do not show",
    "replication_stuck",
    (at) =>
      withIngest({ replicated: false, current: { generation: 7, published_at: timeText(at) } }),
  ],
  [
    "the oldest held change",
    "changes_held",
    (at) =>
      withIngest({
        held: { waiting: 1, oldest_since: timeText(at), next_due_at: null },
      }),
  ],
  [
    "a pause",
    "ingest_paused_long",
    (at) => withIngest({ pause: { at: timeText(at), by: "ops", note: null } }),
  ],
  ["a loss of history", "history_lost", (at) => withIngest({ historyLostAt: timeText(at) })],
  ["the newest backup", "backup_stale", (at) => withBackups({ newestFinishedAt: timeText(at) })],
  [
    "the tick of a run",
    "ticks_missed",
    (at) => withTicks({ lastTicks: { [DAILY]: at }, oldestPublishedAt: LONG_AGO }),
  ],
  ["the first publication", "ticks_missed", (at) => withTicks({ oldestPublishedAt: timeText(at) })],
  ["the tick of the monitor", "monitor_gap", (at) => withMonitor({ lastTickAt: at })],
];

describe.each(Object.entries(AHEAD))("a time that is %s ahead of now", (_, ms) => {
  const at = NOW + ms;

  it.each(FACTS)("is not recent: %s (%s)", (_what, rule, facts) => {
    const found = evaluateRules(facts(at), { now: NOW, limits: DEFAULT_LIMITS });
    expect(found.find((finding) => finding.rule === rule)).toMatchObject({ verdict: "bad" });
    expect(JSON.stringify(found)).not.toMatch(/NaN|Infinity|-\d+ (?:d|h|min|s)\b/);
  });

  it("does not hide an earlier success, an earlier tick, or that no evaluation is recent", () => {
    const earlier = anEndedRun({ id: "run-0" });
    const ended = [anEndedRun({ finished_at: timeText(at) }), earlier];
    expect(lastSuccess(ended, NOW)).toBe(earlier);
    const ticks = new TickTable(ofTable("ticks"));
    for (const time of [NOW - 2, at, NOW - 1]) ticks.add(DAILY, time);
    expect(ticks.newest(NOW)).toEqual({ [DAILY]: NOW - 1 });
    expect(ticks.ahead(NOW)).toEqual({ [DAILY]: at });
    const lastRun = anAlertRun({ started_at: timeText(at) });
    const checks = checkMonitor({ lastRun, webhooks: 1, outboxLength: 0 }, NOW);
    expect(checks["monitor:evaluation"]).toMatchObject([{ status: "fail" }]);
  });

  it("is shown as such: of a publication, a tick and a backup", async () => {
    const context = { now: NOW, limits: DEFAULT_LIMITS };
    const manifest = aManifest({ published_at: timeText(at) });
    const checks = checkServed({ manifest, opened: [], defaultLocale: "en" }, context);
    expect(checks["catalog:age"]).toMatchObject([{ status: "warn" }]);
    const facts = withTicks({ lastTicks: { [DAILY]: NOW - HOUR_MS }, aheadTicks: { [DAILY]: at } });
    const ticks = evaluateRules(facts, context).find(({ rule }) => rule === "ticks_missed");
    expect(ticks?.message).toContain(timeText(at));
    const stale = evaluateRules(withBackups({ misdated: ["a"] }), context);
    expect(stale.find(({ rule }) => rule === "backup_stale")?.message).toContain("wrong times: 1");
  });

  it("pushes no later tick out of what is remembered", () => {
    const ticks = new TickTable(ofTable("ticks"));
    for (let count = 0; count < 300; count++) ticks.add(DAILY, at + count);
    ticks.add(DAILY, NOW);
    expect(ticks.has(DAILY, NOW)).toBe(true);
    expect(ticks.newest(NOW)).toEqual({ [DAILY]: NOW });
  });

  it("lets an alert begin to wait, and fire after its time", () => {
    const waiting = { ...newTrack(at), state: "pending", badSince: at } as const;
    const seen = nextTrack(waiting, "bad", { now: NOW, forMs: MINUTE_MS });
    expect(seen).toMatchObject({ state: "pending", badSince: NOW, since: NOW });
    const later = { now: NOW + MINUTE_MS, forMs: MINUTE_MS };
    expect(nextTrack(seen, "bad", later)).toMatchObject({ state: "firing" });
    const blind = { ...newTrack(at), state: "nodata", nodataSince: at, raisedAt: at } as const;
    // Webhooks know it by the time at which it was raised.
    const known = { since: NOW, nodataSince: NOW, raisedAt: at };
    expect(nextTrack(blind, "nodata", { now: NOW, forMs: 0 })).toMatchObject(known);
  });

  it("lets an open alert be repeated", () => {
    const track = { ...newTrack(NOW), state: "firing", raisedAt: NOW } as const;
    const known = { raisedAt: NOW, deliveredAt: at, told: ["fired"], severities: [] } as const;
    const context = { now: NOW, repeatMs: 4 * HOUR_MS, forgets: false, suppressed: false };
    expect(dueChange(track, known, context)).toBe("repeated");
  });

  it.each(["since", "wanted_since", "last_seen"])(
    "breaks the wait of a held change: %s",
    (field) => {
      const seen = timeText(NOW - HOUR_MS);
      const held = { since: seen, wanted_since: seen, last_seen: seen };
      expect(isUnbroken(held, NOW)).toBe(true);
      expect(isUnbroken({ ...held, [field]: timeText(at) }, NOW)).toBe(false);
    },
  );

  it("holds no step of a job, and takes no place before one that was paused", () => {
    const running = aRunRecord({ state: "running", queued_at: LONG_AGO, heartbeat_at: LONG_AGO });
    expect(stepTime({ ...running, notBefore: at }, NOW)).toBe(NOW);
    const retry = aRunRecord({ queued_at: timeText(at) });
    expect(stepTime({ ...retry, notBefore: at + MINUTE_MS }, NOW)).toBe(NOW);
    const paused = aRunRecord({ state: "running", started_at: timeText(at) });
    const other = { ...running, isPausable: false };
    expect(nextToStep(queueOf([paused, other], null), NOW)).toBe(other);
    expect(nextToStep(aQueue({ waiting: [{ ...retry, notBefore: at }] }), NOW)).toBeDefined();
  });

  it("holds no delivery to D1", async () => {
    const outbox = new Outbox<string>(ofTable("outgoing"), { name: "history", schema: z.string() });
    outbox.add("row");
    const send = () => Promise.reject(new Error("down"));
    await outbox.drain({ send, deadlineMs: 1_000, now: () => at, log: () => {} });
    expect(outbox.dueAt(at)).toBeGreaterThan(at);
    expect(outbox.dueAt(NOW)).toBe(NOW);
  });

  it("lets garbage wait from now on", () => {
    const garbage = new GarbageTable(ofTable("garbage"));
    expect(garbage.mark(["a"], at, DAY_MS)).toEqual([]);
    expect(garbage.mark(["a"], NOW, DAY_MS)).toEqual([]);
    expect(garbage.mark(["a"], NOW + DAY_MS, DAY_MS)).toEqual(["a"]);
  });

  it("keeps nothing in memory fresh, and no lost load alive", async () => {
    const world = new ReaderWorld();
    world.store.publish({ manifest: aManifest({ generation: 1 }), blobs: [] });
    const back = world.time;
    world.time += ms;
    await world.reader.current();
    await world.reader.newest();
    world.time = back;
    world.store.publish({ manifest: aManifest({ generation: 2 }), blobs: [] });
    const generation = 2;
    expect(await world.reader.newest()).toMatchObject({ manifest: { generation } });
    expect(await world.reader.current()).toMatchObject({ manifest: { generation } });
    const clock = { now: at };
    const loads = new SingleFlight<string>(
      () => {},
      () => clock.now,
    );
    void loads.load("key", () => new Promise(() => {}));
    clock.now = NOW;
    expect(loads.has("key")).toBe(false);
    expect(await loads.load("key", async () => "new")).toBe("new");
  });

  it("reads a store again that failed", async () => {
    const world = new ReaderWorld();
    world.store.publish({ manifest: aManifest(), blobs: [] });
    const back = world.time;
    world.time += ms;
    world.breakCalls("kv", "r2");
    for (let count = 0; count < 5; count++) await world.reader.current();
    world.time = back;
    world.repair();
    expect(await world.reader.current()).toMatchObject({ ok: true });
  });
});

describe.each(Object.entries(AHEAD))("rows of D1 that are %s ahead of now", (_, ms) => {
  it("do not count among the newest, which retention spares, and stay until their time", async () => {
    const history = createHistory(MemoryD1.migrated().binding);
    let seq = 0;
    const save = (count: number, ended: number) =>
      history.saveRuns(
        Array.from({ length: count }, () => {
          const id = idAt(ended, ++seq);
          const finished_at = timeText(ended);
          const { job } = aRunRecord({
            id,
            state: "succeeded",
            queued_at: finished_at,
            finished_at,
          });
          return { seq, run: job };
        }),
      );
    await save(5, NOW - 200 * DAY_MS);
    await save(NEWEST_KEPT, NOW - 100 * DAY_MS);
    await save(10, NOW + ms);
    for (const total of [NEWEST_KEPT + 10, NEWEST_KEPT + 10]) {
      await history.deleteOldRuns(NOW);
      expect(await history.listRuns({ limit: 1 })).toMatchObject({ total });
    }
  });
});

describe.each(Object.entries(AHEAD))("a backup dated %s in the future", (_, ms) => {
  it("counts with the time at which R2 stored it, and is shown as misdated", async () => {
    const world = new BackupWorld(undefined, ["en"]);
    await world.ingest.publishVersions(1);
    const { backup_id: today } = await world.backUp();
    const now = world.ingest.time;
    const id = idAt(now + ms, 1);
    const time = timeText(now + ms);
    const storedAt = now - 2 * DAY_MS;
    const { text } = aBackup(id, { started_at: time, finished_at: time });
    world.bucket.lay(backupManifestKey(id), text, { storedAt });
    world.bucket.lay(backupNoteKey(id, "verdict"), GOOD_VERDICT, { storedAt });
    const { coordinator } = world.ingest;
    const deps = { backups: world.store, jobs: async () => coordinator.jobs() };
    expect(await listBackups(deps, { limit: 10 })).toMatchObject({
      body: {
        backups: [
          { id, ahead: true, problem: expect.stringContaining("after R2 stored it") },
          { id: today, ahead: false, problem: null },
        ],
      },
    });
    expect(await readBackup(world.store, id)).toMatchObject({ startedAt: storedAt });
    const times = await newestTimes(world.store);
    expect(times.misdated).toEqual([id]);
    expect(Date.parse(times.newestVerifiedAt ?? "")).toBeGreaterThan(storedAt);
    await coordinator.tickJob("27 5 * * SUN", now, "verify_backup");
    expect(coordinator.jobs(1)).toMatchObject([{ kind: "verify", backup_id: today }]);
    await world.drain();
    expect(await coordinator.removeBackup(today)).toMatchObject({ reason: "newest_verified" });
    for (let month = 1; month <= 7; month++) {
      const madeAt = now - month * 31 * DAY_MS;
      world.bucket.lay(backupManifestKey(idAt(madeAt, 1)), aBackup(idAt(madeAt, 1)).text);
    }
    world.bucket.lay(backupManifestKey(id), text, { storedAt: now - 300 * DAY_MS });
    await world.backUp();
    expect(await world.store.readManifest(id)).toBeNull();
  });

  it("is deleted by retention if it never became whole, and so is what it alone named", async () => {
    const world = new BackupWorld(undefined, ["en"]);
    await world.ingest.publishVersions(1);
    const storedAt = world.ingest.time - 2 * DAY_MS;
    const folder = `backups/${idAt(world.ingest.time + ms, 1)}/parts/state.000001.ndjson.gz`;
    const object = `backups/objects/${"a".repeat(64)}`;
    for (const key of [folder, object]) world.bucket.lay(key, "bytes", { storedAt });
    await world.backUp();
    expect(world.bucket.files.has(folder)).toBe(false);
    expect(world.bucket.files.has(object)).toBe(false);
  });
});

/** A machine's clock does not go further. */
const CLOCKS = { "an hour": HOUR_MS, "400 days": 400 * DAY_MS, "100 years": 36_500 * DAY_MS };
const TICK_MS = 5 * MINUTE_MS;

describe.each(Object.entries(CLOCKS))("after a clock was %s ahead", (_, ms) => {
  it("what a store refused then is published and written within one tick", async () => {
    const world = new CoordinatorWorld();
    await world.publishVersions(1);
    const now = world.time;
    world.time += ms;
    world.before = (call) => {
      if (/^(?:kv put|r2 put|d1)/.test(call)) throw new Error("down");
    };
    const { run } = await world.enqueue();
    world.renameAirport("Kloten");
    for (let alarms = 0; alarms < 6; alarms++) await world.alarm();
    world.time = now;
    world.before = () => {};
    await world.coordinator.reconcile();
    await world.drain();
    expect(world.run(run.id)).toMatchObject({ state: expect.stringMatching(/succeeded|failed/) });
    await world.coordinator.reconcile();
    await world.drain();
    expect(world.coordinator.status()).toMatchObject({ replicated: true, outboxLength: 0 });
    expect(world.time - now).toBeLessThan(TICK_MS);
    expect((await world.runToEnd()).outcome).toMatch(/published|unchanged/);
  });

  it("a source that asked to wait is asked again, and garbage is collected", async () => {
    const world = new CoordinatorWorld();
    const now = world.time;
    world.state.values.set("retry_at:embedded", now + ms + 6 * HOUR_MS);
    world.upstream = { ...world.upstream, fetch: () => Promise.reject(new Error("away")) };
    world.time += ms;
    await world.runToEnd();
    world.time = now;
    world.setAirports(12);
    await world.coordinator.reconcile();
    await world.drain();
    expect(world.current()).toMatchObject({ generation: 1 });
    world.state.values.set("collected_at", now + ms);
    world.calls.length = 0;
    await world.coordinator.reconcile();
    await world.drain();
    expect(world.state.values.get("collected_at")).toBeLessThan(now + TICK_MS);
  });

  it("the loss of history is known since now, so that its finding ends", async () => {
    const world = new CoordinatorWorld();
    await world.publishVersions(1);
    world.state.setHistoryLost(timeText(world.time + ms));
    await world.coordinator.reconcile();
    await world.drain();
    expect(Date.parse(world.coordinator.status().historyLostAt ?? "")).toBeLessThanOrEqual(
      world.time,
    );
  });

  it("the monitor checks copies, deletes old rows and sees a silence within one tick", async () => {
    const world = new MonitorWorld();
    const calls: string[] = [];
    const now = world.time;
    world.time += ms;
    world.before = (call) => {
      if (call === "ingest") throw new Error("away");
    };
    await world.tick();
    world.time = now;
    world.before = (call) => void calls.push(call);
    const run = await world.tick();
    expect(calls).toContain("d1 delete");
    expect(new MonitorState(world.tables, SILENT).values.get("checked_at")).toBe(now + TICK_MS);
    expect(resultOf(run, "monitor_gap")).toMatchObject({ status: "pass" });
    expect(new MonitorState(world.tables, SILENT).values.get("since")).toBe(now + TICK_MS);
    world.before = (call) => {
      if (call === "ingest") throw new Error("away");
    };
    for (let minutes = 0; minutes < 30; minutes += 5) await world.tick();
    expect(resultOf(await world.tick(), "ingest_stuck")).toMatchObject({ state: "firing" });
  });
});

it("durations are never negative, and clocks may differ a little", () => {
  expect(durationOf(NOW, NOW - 1)).toBe(0);
  const ticks = new TickTable(ofTable("ticks"));
  ticks.add(DAILY, NOW + CLOCK_SKEW_MS);
  expect(ticks.newest(NOW)).toEqual({ [DAILY]: NOW + CLOCK_SKEW_MS });
});

function withBackups(changes: Partial<BackupTimes>): Facts {
  return someFacts({ backups: { ok: true, value: someBackups(changes) } });
}

function withTicks(changes: RoughStatus): Facts {
  const facts = withIngest(changes);
  return { ...facts, monitor: { ...facts.monitor, crons: [DAILY] } };
}

/** A Durable Object's storage with one table of JSON values, or that of an outbox. */
function ofTable(name: string): ObjectTables {
  const tables = new MemoryTables();
  tables.sql.exec(
    name === "outgoing"
      ? "CREATE TABLE outgoing (seq INTEGER PRIMARY KEY AUTOINCREMENT, outbox TEXT, id TEXT, value TEXT, UNIQUE (outbox, id))"
      : `CREATE TABLE ${name} (key TEXT PRIMARY KEY, value TEXT NOT NULL)`,
  );
  return new ObjectTables(tables, SILENT);
}
