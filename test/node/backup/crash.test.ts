import { beforeEach, describe, expect, it } from "vitest";
import { backupManifestKey } from "../../../src/storage/keys.ts";
import { BackupWorld } from "../../builders/backup-world.ts";

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
  const { versions, runs, facts } = state;
  return { versions, runs, facts, history, served };
};

describe("a process that dies while a backup is made", () => {
  it("at any call leaves a whole backup in the end, and the ingest goes on", async () => {
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

describe("a process that dies while a backup is restored", () => {
  it("at any call has restored all of it in the end: never a mixture", async () => {
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

describe("a store that refuses", () => {
  it("to say that the manifest is written does not lose the backup", async () => {
    let isWritten = false;
    let refusals = 0;
    world.after = (call) => {
      if (!/^put .*manifest.json$/.test(call)) return;
      isWritten = true;
      throw new Error("503 Service Unavailable");
    };
    world.before = (call) => {
      if (isWritten && /^get .*manifest.json$/.test(call) && refusals++ < 5)
        throw new Error("503 Service Unavailable");
    };
    const job = await world.backUp();
    liveOn();
    expect(job).toMatchObject({ state: "failed", error: { stage: "write_manifest" } });
    expect(await world.verify(job.backup_id)).toMatchObject({ verdict: "verified" });
  });

  it("the restored catalog for minutes only delays the end of the restore", async () => {
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

  it("at any call to it for good fails the backup, and leaves no whole one", async () => {
    const before = await world.everything();
    for (const beginning of ["put backups/", "d1 read", "d1 tables", "head backups/objects"]) {
      world.before = (call) => {
        if (call.startsWith(beginning)) throw new Error("503 Service Unavailable");
      };
      const job = await world.backUp();
      world.before = () => {};
      expect(job, beginning).toMatchObject({ state: "failed", error: { code: "store_fault" } });
      expect(world.bucket.files.has(backupManifestKey(job.backup_id))).toBe(false);
      expect([...world.bucket.files.keys()].filter((key) => key.includes(job.backup_id))).toEqual(
        [],
      );
    }
    expect((await world.everything()).state).toEqual(before.state);
  });

  it("an object halfway leaves no whole backup, and the next one is clean", async () => {
    let puts = 0;
    world.before = (call) => {
      if (call.startsWith("put backups/objects/") && ++puts > 5)
        throw new Error("500 Internal Error");
    };
    const failed = await world.backUp();
    expect(failed).toMatchObject({ state: "failed", error: { code: "store_fault" } });
    expect(await world.store.readManifest(failed.backup_id)).toBeNull();
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
    const { backup_id } = await world.backUp();
    await world.ingest.publishVersions(1);
    await world.drain();
    const before = await stateAndHistory();
    for (const [beginning, state] of [
      ["d1 tables", "cancelled"],
      ["d1 add", "failed"],
      ["catalog r2 get catalog/manifest", "failed"],
    ] as const) {
      world.before = (call) => {
        if (call.startsWith(beginning)) throw new Error("D1_ERROR: no");
      };
      const job = await world.restore(backup_id);
      world.before = () => {};
      expect(job, beginning).toMatchObject({ state, generation: null });
      expect(await stateAndHistory(), beginning).toEqual(before);
    }
  });
});
