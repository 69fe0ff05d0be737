import { describe, expect, it } from "vitest";
import { listIds } from "../../../src/backup/read-backups.ts";
import { BackupWorld } from "../../builders/backup-world.ts";
import { startEachFrom } from "../../builders/coordinator-world.ts";

const world = new BackupWorld(undefined, ["en"]);
startEachFrom(world, async () => {
  await world.ingest.publishVersions(2);
  await world.drain();
});

/** Calls that a job makes when nothing happens to it. */
async function callsOf(work: () => Promise<unknown>): Promise<string[]> {
  world.calls.length = 0;
  await work();
  return [...world.calls];
}

/** A call, and whether to die before or after it has taken effect. */
type Death = readonly [nth: number, when: "before" | "after"];

/** Where to die: here and there, and before and after each call from `closely` on. */
function deaths(calls: readonly string[], stride: number, closely: string): Death[] {
  const critical = calls.indexOf(closely);
  expect(critical).toBeGreaterThan(0);
  return calls.flatMap((_, nth): Death[] => {
    if (nth >= critical && nth < critical + 20)
      return [
        [nth, "before"],
        [nth, "after"],
      ];
    if (nth % stride !== 0) return [];
    return [[nth, nth % (2 * stride) === 0 ? "before" : "after"]];
  });
}

/** Lets the process die at the `nth` call from now on. */
function dieAt([nth, when]: Death): void {
  let calls = 0;
  let last: string | undefined;
  world.before = (call) => {
    if (calls++ !== nth) return;
    if (when === "before") world.crash();
    else last = call;
  };
  world.after = (call) => {
    if (call !== last) return;
    last = undefined;
    world.crash();
  };
}

function liveOn(): void {
  world.before = () => {};
  world.after = () => {};
}

const stateAndHistory = async () => {
  const { state, history, served } = await world.everything();
  const { versions, runs, single_values } = state;
  return { versions, runs, single_values, history, served };
};

describe("making a backup", () => {
  it("finishes with a verified backup, whenever the process dies", async () => {
    const calls = await callsOf(() => world.backUp());
    const before = await stateAndHistory();
    const writing = calls.find((call) => call.endsWith("/manifest.json")) ?? "";
    for (const death of deaths(calls, 7, writing)) {
      dieAt(death);
      const job = await world.backUp();
      liveOn();
      expect(job, String(death)).toMatchObject({ state: "succeeded", verdict: "verified" });
      expect(await stateAndHistory(), String(death)).toEqual(before);
      expect(world.ingest.coordinator.status()).toMatchObject({ running: null });
    }
  });
});

describe("restoring a backup", () => {
  it("finishes with exactly the backup's versions, whenever the process dies", async () => {
    const { backup_id } = await world.backUp();
    const old = await world.ingest.served();
    await world.ingest.publishVersions(2);
    const { backup_id: laterId } = await world.backUp();
    const later = await world.ingest.served();
    await world.restore(backup_id, () => void (world.calls.length = 0));
    const calls = [...world.calls];
    for (const [index, death] of deaths(calls, 7, "d1 add").entries()) {
      const [target, wanted] = index % 2 === 0 ? [laterId, later] : [backup_id, old];
      const job = await world.restore(target, () => dieAt(death));
      liveOn();
      expect(job, String(death)).toMatchObject({ state: "succeeded", error: null });
      const after = await stateAndHistory();
      expect(after.served?.locales, String(death)).toEqual(wanted?.locales);
      expect(after.served?.generation).toBe(job.generation);
      expect(after.history).toHaveLength(4);
      expect(after.runs).toHaveLength(4);
    }
  });
});

describe("a job whose store fails", () => {
  it("finishes the restore when KV answers again", async () => {
    const { backup_id } = await world.backUp();
    await world.ingest.publishVersions(1);
    const start = world.ingest.time;
    world.before = (call) => {
      if (call === "catalog kv put catalog/manifest" && world.ingest.time - start < 600_000)
        throw new Error("KV is away");
    };
    world.ingest.before = (call) => {
      if (call === "kv put catalog/manifest" && world.ingest.time - start < 600_000)
        throw new Error("KV is away");
    };
    expect(await world.restore(backup_id)).toMatchObject({ state: "succeeded", generation: 4 });
    expect(await world.ingest.served()).toMatchObject({ generation: 4 });
  });

  it("leaves nothing of a failed backup after a day, and the next backup succeeds", async () => {
    const before = await world.everything();
    let objects = 0;
    const faults: readonly ((call: string) => boolean)[] = [
      ...["put backups/", "d1 read", "d1 tables", "head backups/objects"].map(
        (prefix) => (call: string) => call.startsWith(prefix),
      ),
      (call) => call.startsWith("put backups/objects/") && ++objects > 5,
    ];
    for (const [index, isFault] of faults.entries()) {
      world.before = (call) => {
        if (isFault(call)) throw new Error("503 Service Unavailable");
      };
      const job = await world.backUp();
      world.before = () => {};
      expect(job, String(index)).toMatchObject({ state: "failed", error: { code: "store_fault" } });
    }
    expect(objects).toBeGreaterThan(5);
    expect((await world.everything()).state).toEqual(before.state);
    world.ingest.time += 25 * 3_600_000;
    const { backup_id, ...job } = await world.backUp();
    expect(job).toMatchObject({ state: "succeeded", verdict: "verified" });
    expect(await listIds(world.store)).toEqual([backup_id]);
  });

  it("repeats a step that failed once", async () => {
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

  it("ends a restore without a change if a store fails before the versions are replaced", async () => {
    const { backup_id } = await world.backUp();
    await world.ingest.publishVersions(1);
    await world.drain();
    const before = await stateAndHistory();
    for (const [prefix, state] of [
      ["d1 tables", "cancelled"],
      ["d1 add", "failed"],
      ["catalog r2 get catalog/manifest", "failed"],
    ] as const) {
      world.before = (call) => {
        if (call.startsWith(prefix)) throw new Error("D1_ERROR: no");
      };
      const job = await world.restore(backup_id);
      world.before = () => {};
      expect(job, prefix).toMatchObject({ state, generation: null });
      expect(await stateAndHistory(), prefix).toEqual(before);
    }
  });
});
