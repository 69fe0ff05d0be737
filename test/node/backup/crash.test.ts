import { beforeEach, describe, expect, it } from "vitest";
import { backupManifestKey } from "../../../src/storage/keys.ts";
import { aRunRequest, BackupWorld } from "../../builders/backup-world.ts";

let world: BackupWorld;

beforeEach(async () => {
  world = new BackupWorld(undefined, ["en"]);
  await world.ingest.publishVersions(2);
  await world.drain();
});

/** Calls that a job makes when nothing happens to it. */
async function callsOf(work: () => Promise<unknown>): Promise<string[]> {
  world.calls.length = 0;
  await work();
  return [...world.calls];
}

/** Where to die: here and there, and at each call from `closely` on. */
function deaths(calls: readonly string[], stride: number, closely: string): number[] {
  const critical = calls.indexOf(closely);
  expect(critical).toBeGreaterThan(0);
  return calls
    .map((_, nth) => nth)
    .filter((nth) => nth % stride === 0 || (nth >= critical && nth < critical + 20));
}

/** Lets the process die at the `nth` call from now on, before or after that has taken effect. */
function dieAt(nth: number): void {
  let calls = 0;
  world.before = () => {
    if (calls++ === nth) world.crash();
  };
}

const stateAndHistory = async () => {
  const { state, history, served } = await world.everything();
  const { versions, runs, facts } = state;
  return { versions, runs, facts, history, served };
};

describe("a process that dies while a backup is made", () => {
  it("at any call leaves a whole backup in the end, and the ingest goes on", async () => {
    const calls = await callsOf(() => world.backUp());
    const before = await stateAndHistory();
    const writing = calls.find((call) => call.endsWith("/manifest.json")) ?? "";
    for (const nth of deaths(calls, 7, writing)) {
      dieAt(nth);
      const job = await world.backUp({ note: `dies at ${nth}` });
      world.before = () => {};
      expect(job, `at call ${nth}`).toMatchObject({ state: "succeeded", verdict: "verified" });
      expect(await stateAndHistory(), `at call ${nth}`).toEqual(before);
      expect(world.ingest.coordinator.status()).toMatchObject({ running: null });
    }
  }, 60_000);
});

describe("a process that dies while a backup is restored", () => {
  it("at any call has restored all of it in the end: never a mixture", async () => {
    const { backupId } = await world.backUp();
    const old = await world.ingest.served();
    await world.ingest.publishVersions(2);
    const { backupId: laterId } = await world.backUp();
    const later = await world.ingest.served();
    await world.restore(backupId, () => void (world.calls.length = 0));
    const calls = [...world.calls];
    for (const nth of deaths(calls, 7, "ingest replace")) {
      const [target, wanted] = nth % 2 === 0 ? [laterId, later] : [backupId, old];
      const job = await world.restore(target, () => dieAt(nth));
      world.before = () => {};
      expect(job, `at call ${nth}`).toMatchObject({ state: "succeeded", error: null });
      const after = await stateAndHistory();
      expect(after.served?.locales, `at call ${nth}`).toEqual(wanted?.locales);
      expect(after.served?.generation).toBe(job.generation);
      expect(after.history).toHaveLength(target === laterId ? 4 : 2);
      expect(after.runs).toHaveLength(target === laterId ? 4 : 2);
    }
  }, 120_000);
});

describe("a store that refuses", () => {
  it("at any call to it for good fails the backup, and leaves no whole one", async () => {
    const before = await world.everything();
    for (const beginning of ["put backups/", "d1 read", "ingest read", "head backups/objects"]) {
      world.before = (call) => {
        if (call.startsWith(beginning)) throw new Error("503 Service Unavailable");
      };
      const job = await world.backUp();
      world.before = () => {};
      expect(job, beginning).toMatchObject({ state: "failed", error: { code: "store_fault" } });
      expect(world.store.files.has(backupManifestKey(job.backupId))).toBe(false);
      expect([...world.store.files.keys()].filter((key) => key.includes(job.backupId))).toEqual([]);
    }
    expect((await world.everything()).state).toEqual(before.state);
  });

  it("halfway through the objects leaves no whole backup, and the next one is clean", async () => {
    let puts = 0;
    world.before = (call) => {
      if (call.startsWith("put ") && ++puts > 12) throw new Error("500 Internal Error");
    };
    const failed = await world.backUp();
    expect(failed).toMatchObject({ state: "failed", error: { code: "store_fault" } });
    expect(await world.store.readManifest(failed.backupId)).toBeNull();
    world.before = () => {};
    expect(await world.backUp()).toMatchObject({ state: "succeeded", verdict: "verified" });
  });

  it("once at each call is only repeated", async () => {
    const refused = new Set<string>();
    world.before = (call) => {
      const kind = call
        .split(" ")
        .slice(0, 2)
        .join(" ")
        .replace(/[0-9a-f-]{36}.*/, "");
      if (refused.has(kind)) return;
      refused.add(kind);
      throw new Error("429 Too Many Requests");
    };
    expect(await world.backUp()).toMatchObject({ state: "succeeded", verdict: "verified" });
    expect(refused.size).toBeGreaterThan(5);
  });

  it("before a restore replaces anything ends it, with nothing changed", async () => {
    const { backupId } = await world.backUp();
    await world.ingest.publishVersions(1);
    await world.drain();
    const before = await stateAndHistory();
    for (const beginning of ["d1 begin", "d1 stage", "catalog kv put", "ingest stage"]) {
      world.before = (call) => {
        if (call.startsWith(beginning)) throw new Error("D1_ERROR: no");
      };
      const job = await world.restore(backupId);
      world.before = () => {};
      expect(job, beginning).toMatchObject({ state: "failed", generation: null });
      expect(await stateAndHistory(), beginning).toEqual(before);
      const { results } = await world.d1
        .prepare("SELECT name FROM sqlite_master WHERE name LIKE 'restoring%'")
        .all();
      expect(results).toEqual([]);
    }
  });

  it("after that only delays it: it goes on until it is whole", async () => {
    const { backupId } = await world.backUp();
    await world.ingest.publishVersions(1);
    let refusals = 0;
    world.before = (call) => {
      if (call === "d1 finish" && ++refusals < 20) throw new Error("D1_ERROR: no");
    };
    expect(await world.restore(backupId)).toMatchObject({ state: "succeeded", generation: 4 });
    expect(refusals).toBe(20);
    expect(world.rows("ingest_runs")).toHaveLength(2);
  });
});

describe("one job at a time", () => {
  it("lets a second call for a backup attach to the first", async () => {
    const [first, second] = await Promise.all([
      world.jobs.run(aRunRequest()),
      world.jobs.run(aRunRequest({ note: "the same" })),
    ]);
    expect([first, second]).toMatchObject([
      { ok: true, disposition: "started" },
      { ok: true, disposition: "attached" },
    ]);
    expect(first.ok && second.ok && first.job.id === second.job.id).toBe(true);
    await world.drain();
  });

  it("refuses a restore while another job or an ingest run is under way", async () => {
    const { backupId } = await world.backUp();
    await world.jobs.run(aRunRequest());
    expect(await world.jobs.restore(backupId, "ops")).toMatchObject({ ok: false, reason: "busy" });
    await world.drain();
    world.ingest.renameAirport("Kloten");
    const { run } = await world.ingest.enqueue();
    await world.ingest.drain(() => world.ingest.run(run.id).stage === "encode");
    expect(await world.jobs.restore(backupId, "ops")).toEqual({
      ok: false,
      reason: "run_active",
      runId: run.id,
    });
    await world.drain();
    expect(await world.jobs.restore("019aa3c0-0000-7000-8000-000000000001", "ops")).toEqual({
      ok: false,
      reason: "not_found",
    });
  });

  it("fails a restore that an ingest run has come before, with nothing changed", async () => {
    const { backupId } = await world.backUp();
    await world.jobs.restore(backupId, "ops");
    await world.alarm();
    world.ingest.renameAirport("Kloten");
    const { run } = await world.ingest.enqueue();
    await world.ingest.drain(() => world.ingest.run(run.id).stage === "encode");
    while (world.alarmAt !== null && world.jobs.jobs(1)[0]?.state === "running")
      await world.alarm();
    expect(world.jobs.jobs(1)[0]).toMatchObject({
      kind: "restore",
      state: "failed",
      error: { code: "run_active" },
    });
    await world.drain();
    expect(world.ingest.run(run.id)).toMatchObject({ outcome: "published" });
  });

  it("makes one backup of a cron tick that fires twice, and verifies the newest once a week", async () => {
    const request = aRunRequest({ trigger: "cron" });
    await world.jobs.runOnce("37 3 * * * 1", request);
    await world.drain();
    await world.jobs.runOnce("37 3 * * * 1", request);
    await world.jobs.verifyNewestOnce("7 5 * * SUN 1");
    await world.drain();
    await world.jobs.verifyNewestOnce("7 5 * * SUN 1");
    expect(world.jobs.jobs(10).map(({ kind, state }) => [kind, state])).toEqual([
      ["verify", "succeeded"],
      ["run", "succeeded"],
    ]);
  });
});

describe("a forced ingest run", () => {
  it("publishes only after a backup of what was there before", async () => {
    world.ingest.setAirports(5);
    const run = await world.ingest.enqueue({ forced: true });
    await world.drain();
    expect(world.ingest.run(run.run.id)).toMatchObject({ outcome: "published", forced: true });
    const [job] = world.jobs.jobs(10);
    expect(job).toMatchObject({ trigger: "forced_publish", state: "succeeded" });
    expect(await world.restore(job?.backupId ?? "")).toMatchObject({ state: "succeeded" });
    expect(await world.ingest.served()).toMatchObject({ generation: 4, counts: { airports: 20 } });
  });

  it("fails if that backup fails, and what is served stays", async () => {
    world.before = (call) => {
      if (call.startsWith("put backups/")) throw new Error("no space");
    };
    world.ingest.setAirports(5);
    const { run } = await world.ingest.enqueue({ forced: true });
    await world.drain();
    expect(world.ingest.run(run.id)).toMatchObject({
      state: "failed",
      error: { code: "backup_failed", stage: "publish" },
      attempt: 1,
    });
    expect(world.ingest.run(run.id).error?.message).toContain("no space");
    expect(await world.ingest.served()).toMatchObject({ generation: 2 });
  });
});
