/**
 * The traces of a clock that was fast by an hour, by years, and almost by the range of dates. The sweep
 * `storage/set-aside.sweep.test.ts` has each time that a Durable Object stores.
 */
import { describe, expect, it } from "vitest";
import * as z from "zod";
import { listBackups } from "../../src/backup/listing.ts";
import { newestTimes, readBackup } from "../../src/backup/read-backups.ts";
import { stepTime } from "../../src/coordinator/jobs.ts";
import { GarbageTable } from "../../src/coordinator/tables.ts";
import { checkServed } from "../../src/monitor/catalog-checks.ts";
import type { Facts } from "../../src/monitor/facts.ts";
import { MonitorState } from "../../src/monitor/monitor-state.ts";
import { evaluateRules } from "../../src/monitor/rules.ts";
import { SingleFlight } from "../../src/platform/once.ts";
import { cutToNow, DAY_MS, HOUR_MS, timeText } from "../../src/platform/time.ts";
import { heldChangeSchema } from "../../src/schemas/held-change.ts";
import type { RuleName } from "../../src/schemas/rule-names.ts";
import { changeTimes } from "../../src/schemas/stored-times.ts";
import { backupManifestKey, backupNoteKey } from "../../src/storage/keys.ts";
import { ObjectTables, TickTable } from "../../src/storage/object-tables.ts";
import { Outbox } from "../../src/storage/outbox.ts";
import { NEWEST_KEPT } from "../../src/storage/rows.ts";
import { createHistory } from "../../src/storage/run-history.ts";
import { idAt } from "../builders/an-id.ts";
import { BackupWorld } from "../builders/backup-world.ts";
import { CoordinatorWorld } from "../builders/coordinator-world.ts";
import {
  anEndedRun,
  DEFAULT_LIMITS,
  MINUTE_MS,
  NOW,
  someBackups,
  someFacts,
  withIngest,
  withManifest,
} from "../builders/facts.ts";
import { aHeldChange } from "../builders/held-change.ts";
import { aManifest } from "../builders/manifest.ts";
import { MemoryD1 } from "../builders/memory-d1.ts";
import { MemoryTables } from "../builders/memory-tables.ts";
import { MonitorWorld, resultOf } from "../builders/monitor-world.ts";
import { ReaderWorld } from "../builders/reader-world.ts";
import { aRunRecord } from "../builders/run.ts";
import { aBackup, GOOD_VERDICT } from "../builders/stored-backup.ts";

const DAILY = "17 4 * * *";
const LONG_AGO = timeText(NOW - 30 * DAY_MS);

const FUTURES = {
  "an hour": HOUR_MS,
  "400 days": 400 * DAY_MS,
  "8,000 years": Date.parse("9990-01-01T00:00:00.000Z") - NOW,
};

/** Facts with a time of what never changes, in milliseconds since 1970, which a rule must find bad. */
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
    "a publication that the stores do not show",
    "replication_stuck",
    (at) =>
      withIngest({ replicated: false, current: { generation: 7, published_at: timeText(at) } }),
  ],
  [
    "the first publication",
    "ticks_missed",
    (at) => {
      const facts = withIngest({ oldestPublishedAt: timeText(at) });
      return { ...facts, monitor: { ...facts.monitor, crons: [DAILY] } };
    },
  ],
];

describe.each(Object.entries(FUTURES))("a time %s in the future", (_, ms) => {
  const at = NOW + ms;

  it.each(FACTS)("is found bad: %s (%s)", (_what, rule, facts) => {
    const found = evaluateRules(facts(at), { now: NOW, limits: DEFAULT_LIMITS });
    expect(found.find((finding) => finding.rule === rule)).toMatchObject({
      verdict: "bad",
      message: expect.stringMatching(/is in the future|did not come when due/),
    });
    expect(JSON.stringify(found)).not.toMatch(/NaN|Infinity|-\d+ (?:d|h|min|s)\b/);
  });

  it("is shown as such: of a publication and of backups", () => {
    const context = { now: NOW, limits: DEFAULT_LIMITS };
    const manifest = aManifest({ published_at: timeText(at) });
    const checks = checkServed({ manifest, opened: [], defaultLocale: "en" }, context);
    expect(checks["catalog:age"]).toMatchObject([{ status: "warn" }]);
    const backups = { ok: true, value: someBackups({ misdated: ["a"] }) } as const;
    const stale = evaluateRules(someFacts({ backups }), context);
    expect(stale.find(({ rule }) => rule === "backup_stale")?.message).toContain("wrong times: 1");
  });

  it("is forgotten in ticks, and becomes now in what an instance stored before its clock was set back", () => {
    let now = at;
    const tables = new MemoryTables();
    tables.sql.exec("CREATE TABLE single_values (key TEXT PRIMARY KEY, value TEXT NOT NULL)");
    for (const name of ["ticks", "garbage"])
      tables.sql.exec(`CREATE TABLE ${name} (key TEXT PRIMARY KEY, value TEXT NOT NULL)`);
    const stored = new ObjectTables(tables, { log: () => {}, now: () => now });
    const [ticks, garbage] = [new TickTable(stored), new GarbageTable(stored)];
    for (let count = 0; count < 300; count++) ticks.add(DAILY, at + count);
    ticks.add("27 5 * * SUN", at);
    for (let looks = 0; looks < 2; looks++) expect(garbage.mark(["a"], at, DAY_MS)).toEqual([]);
    now = NOW;
    expect(ticks.newest()).toEqual({});
    expect(ticks.add(DAILY, NOW)).toBe(true);
    expect(ticks.newest()).toEqual({ [DAILY]: NOW });
    expect(garbage.mark(["a"], NOW, DAY_MS)).toEqual([]);
    expect(garbage.mark(["a"], NOW + DAY_MS, DAY_MS)).toEqual(["a"]);
    expect(stored.setAside().map(({ table }) => table)).toEqual(["garbage"]);
  });

  it.each(["since", "wanted_since", "last_seen"])("becomes now in a held change: %s", (field) => {
    const held = { ...aHeldChange(), due_at: timeText(at) };
    const read = changeTimes(
      heldChangeSchema,
      { ...held, [field]: timeText(at) },
      (time, toleranceMs) => cutToNow(time, NOW, toleranceMs),
    );
    expect(read).toEqual({ ...held, [field]: timeText(NOW) });
  });

  it("holds no step of a job", () => {
    const running = aRunRecord({ state: "running", queued_at: LONG_AGO, heartbeat_at: LONG_AGO });
    expect(stepTime({ ...running, notBefore: at }, NOW)).toBe(NOW);
    expect(stepTime({ ...running, notBefore: NOW + 1 }, NOW)).toBe(NOW + 1);
  });

  it("holds no delivery to D1", async () => {
    const tables = new MemoryTables();
    tables.sql.exec(
      "CREATE TABLE outgoing (seq INTEGER PRIMARY KEY AUTOINCREMENT, outbox TEXT, id TEXT, value TEXT, UNIQUE (outbox, id))",
    );
    const stored = new ObjectTables(tables, { log: () => {}, now: () => 0 });
    const outbox = new Outbox<string>(stored, { name: "history", schema: z.string() });
    outbox.add("row");
    const send = () => Promise.reject(new Error("down"));
    await outbox.drain({ send, deadlineMs: 1_000, now: () => at, log: () => {} });
    expect(outbox.dueAt(at)).toBeGreaterThan(at);
    expect(outbox.dueAt(NOW)).toBe(NOW);
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

describe.each(Object.entries(FUTURES))("rows of D1 dated %s in the future", (_, ms) => {
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

describe.each(Object.entries(FUTURES))("a backup dated %s in the future", (_, ms) => {
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

describe.each(Object.entries(CLOCKS))("after a clock was %s fast", (_, ms) => {
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

  it("a source that asked to wait is asked again", async () => {
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
  });

  it("the monitor checks copies and deletes old rows within an hour, and sees a silence", async () => {
    const world = new MonitorWorld();
    const stored = () => new MonitorState(world.tables, { log: () => {}, now: () => world.time });
    const calls: string[] = [];
    const now = world.time;
    world.time += ms;
    world.before = (call) => {
      if (call === "ingest") throw new Error("away");
    };
    for (let ticks = 0; ticks < 2; ticks++) await world.tick();
    world.time = now;
    world.before = (call) => void calls.push(call);
    expect(resultOf(await world.tick(), "monitor_gap")).toMatchObject({ status: "pass" });
    expect(stored().values.get("since")).toBe(now + TICK_MS);
    for (let ticks = 0; ticks < 12; ticks++) await world.tick();
    expect(calls).toContain("d1 delete");
    expect(stored().values.get("checked_at")).toBe(world.time);
    world.before = (call) => {
      if (call === "ingest") throw new Error("away");
    };
    for (let minutes = 0; minutes < 30; minutes += 5) await world.tick();
    expect(resultOf(await world.tick(), "ingest_stuck")).toMatchObject({ state: "firing" });
  });
});

describe("a run made while the clock was a day back", () => {
  it("does not shorten the wait of a change that it is the first to see", async () => {
    const world = new CoordinatorWorld();
    await world.publishVersions(1);
    world.source = "other";
    world.crash();
    await world.runToEnd();
    world.time += MINUTE_MS;
    const seenAt = world.time;
    world.renameAirport("Kloten");
    world.time -= DAY_MS;
    await world.runToEnd();
    world.time = seenAt + 6 * HOUR_MS;
    await world.runToEnd();
    const { held } = world.coordinator.status();
    expect(held).toMatchObject({ waiting: 1 });
    expect(Date.parse(held?.next_due_at ?? "")).toBeGreaterThanOrEqual(seenAt + 3 * DAY_MS);
  });
});

describe("an ended run whose id a wrong clock has made", () => {
  it.each([HOUR_MS, -HOUR_MS, 400 * DAY_MS])(
    "is forgotten a hundred runs later: %i ms fast",
    (ms) => {
      const { state } = new CoordinatorWorld();
      const save = (at: number, number: number) => {
        const id = idAt(at, number);
        state.save(aRunRecord({ id, state: "failed", finished_at: timeText(NOW) }));
        return id;
      };
      const before = save(NOW - DAY_MS, 1);
      const wrong = save(NOW + ms, 2);
      for (let later = 3; later <= 101; later++) save(NOW + later, later);
      expect([before, wrong].map((id) => state.findRun(id) !== undefined)).toEqual([false, true]);
      save(NOW + 102, 102);
      expect(state.findRun(wrong)).toBeUndefined();
    },
  );
});

it("a run knows when the last runs ended, and when the version was published", async () => {
  const world = new CoordinatorWorld();
  await world.publishVersions(1);
  const published = Date.parse(world.current()?.published_at ?? "");
  const { finished_at } = await world.runToEnd();
  expect(world.state.recordedTimes()).toEqual(
    expect.arrayContaining([published, Date.parse(finished_at ?? "")]),
  );
  world.loseTables();
  await world.coordinator.takeOver("ops");
  expect(world.state.recordedTimes()).toEqual([Date.parse(world.current()?.published_at ?? "")]);
});
