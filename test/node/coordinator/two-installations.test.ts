import fc from "fast-check";
import { beforeEach, describe, expect, it } from "vitest";
import { openManifest } from "../../../src/parts/stored-manifest.ts";
import { generationKey, MANIFEST_KEY } from "../../../src/storage/keys.ts";
import { startEachFrom, CoordinatorWorld } from "../../builders/coordinator-world.ts";
import { aBackupRequest } from "../../builders/backup-world.ts";
import { fuzzed, UNHURRIED } from "../../builders/fuzzed.ts";
import { MemoryBucket } from "../../builders/memory-bucket.ts";
import { QuickPipeline } from "../../builders/quick-pipeline.ts";

const CALL = "POST /admin/catalog/take-over";

const first = new CoordinatorWorld();
let second: CoordinatorWorld;

const stored = () =>
  [...first.store.kv, ...first.store.r2].toSorted(([one], [other]) => one.localeCompare(other));

startEachFrom(first, () => first.publishVersions(3));

beforeEach(() => {
  second = new CoordinatorWorld({ over: first });
});

describe("an installation over the stores of another", () => {
  it("publishes nothing: its runs fail at once, and the error names the call that takes over", async () => {
    const before = stored();
    second.renameAirport("Kloten");
    expect(await second.runToEnd()).toMatchObject({
      state: "failed",
      outcome: null,
      error: { code: "foreign_stores", stage: "fetch", message: expect.stringContaining(CALL) },
    });
    expect(second.coordinator.status().queued).toEqual([]);
    expect(stored()).toEqual(before);
  });

  it("ends no run in D1 either while it cannot check the owner of the stores", async () => {
    second.before = (call) => {
      if (call.startsWith("r2 head")) throw new Error("R2 is away");
    };
    await second.coordinator.reconcile();
    await second.drain();
    expect(second.callsOf("d1 look")).toEqual([]);
  });

  it("deletes no garbage and ends no run in D1, however long it waits", async () => {
    const before = stored();
    second.endLostRuns = async () => {
      throw new Error("a run of the other was ended");
    };
    await second.collect();
    expect(stored()).toEqual(before);
    expect(second.callsOf("d1 look")).toEqual([]);
    expect(second.events).toContainEqual(expect.objectContaining({ event: "foreign_stores" }));
  });

  it("reports this in its status as soon as it compares the stores, and no longer once it owns them", async () => {
    await second.coordinator.reconcile();
    await second.drain();
    expect(second.coordinator.status().foreign).toContain(CALL);
    first.store.r2.delete(MANIFEST_KEY);
    await second.coordinator.reconcile();
    await second.drain();
    expect(second.coordinator.status().foreign).toBeNull();
  });

  it("refuses a rollback and a backup", async () => {
    const refused = { ok: false, reason: "foreign_stores", detail: expect.stringContaining(CALL) };
    expect(await second.coordinator.rollback(1)).toEqual(refused);
    expect(await second.coordinator.backUp(aBackupRequest())).toEqual(refused);
    expect(second.coordinator.jobs()).toEqual([]);
  });

  it("fails a backup that was queued while it owned the stores", async () => {
    const made = await first.coordinator.backUp(aBackupRequest());
    if (!made.ok) throw new Error(made.reason);
    await second.coordinator.takeOver("ops");
    await first.drain();
    const error = { code: "foreign_stores", message: expect.stringContaining(CALL) };
    expect(first.coordinator.findJob(made.job.id)).toMatchObject({ state: "failed", error });
  });

  it("publishes nothing after the loss of its tables until an operator calls take-over, even if it is alone", async () => {
    first.loseTables();
    expect(await first.runToEnd()).toMatchObject({ error: { code: "foreign_stores" } });
    expect(await first.coordinator.takeOver("ops")).toMatchObject({ version: { generation: 4 } });
    await first.coordinator.resume();
    first.renameAirport("Kloten");
    expect(await first.runToEnd()).toMatchObject({ generation_before: 4, generation_after: 5 });
  });
});

describe("a takeover", () => {
  it("publishes the newest version again, and adopts the others for the guards and for rollbacks", async () => {
    const { catalog_sha256 } = (await first.served()) ?? {};
    const answer = { ok: true, changed: true, version: { generation: 4, republishes: 3 } };
    expect(await second.coordinator.takeOver("ops")).toMatchObject(answer);
    await second.drain();
    expect(await second.served()).toMatchObject({ generation: 4, previous: 3, catalog_sha256 });
    await second.coordinator.resume();
    second.setAirports(3);
    expect(await second.runToEnd()).toMatchObject({ generation_before: 4, state: "failed" });
    expect(await second.coordinator.rollback(1)).toMatchObject({ version: { generation: 5 } });
  });

  it("pauses ingestion until somebody resumes, since a pause from before is lost", async () => {
    await first.coordinator.pause({ by: "ops", note: "wrong upstream", until: null }, false);
    first.loseTables();
    expect(await first.coordinator.takeOver("ops")).toMatchObject({ changed: true, paused: true });
    const { run } = await first.enqueue();
    await first.drain();
    expect(first.run(run.id).state).toBe("queued");
    expect(first.coordinator.status().pause).toMatchObject({
      by: "ops",
      note: expect.stringContaining("see the audit, then resume"),
      until: null,
    });
    const again = { changed: false, paused: true };
    expect(await first.coordinator.takeOver("ops")).toMatchObject(again);
  });

  it("keeps the reason of a present pause, and takes away its end", async () => {
    const pause = { by: "night shift", note: "wrong upstream" };
    const until = new Date(second.time + 60_000).toISOString();
    await second.coordinator.pause({ ...pause, until }, false);
    await second.coordinator.takeOver("ops");
    expect(second.coordinator.status().pause).toMatchObject({ ...pause, until: null });
  });

  it("pauses in the name of whoever asks where an earlier pause has ended", async () => {
    const until = new Date(second.time + 60_000).toISOString();
    await second.coordinator.pause({ by: "night shift", note: "wrong upstream", until }, false);
    second.time += 60_000;
    await second.coordinator.takeOver("ops");
    expect(second.coordinator.status().pause).toMatchObject({ by: "ops", until: null });
  });

  it("changes nothing if the installation owns the stores, or if they are empty", async () => {
    const before = stored();
    const unchanged = { ok: true, changed: false };
    const version = { generation: 3 };
    expect(await first.coordinator.takeOver("ops")).toMatchObject({ ...unchanged, version });
    expect(stored()).toEqual(before);
    const answer = await new CoordinatorWorld().coordinator.takeOver("ops");
    expect(answer).toEqual({ ...unchanged, version: null, paused: false, unusable: [] });
  });

  it("stops the former owner, even in the middle of a publication, which no run then completes", async () => {
    first.renameAirport("Kloten");
    const { id } = await first.runUpTo("verify");
    expect(first.current()).toMatchObject({ generation: 4 });
    await second.coordinator.takeOver("ops");
    await second.drain();
    await first.drain();
    const failed = { state: "failed", generation_after: null, error: { code: "foreign_stores" } };
    expect(first.run(id)).toMatchObject(failed);
    expect(first.current()).toMatchObject({ generation: 3 });
    expect(await first.served()).toMatchObject({ generation: 4, previous: 3 });
  });

  it("withdraws only the run's version, whatever awaits replication by then", async () => {
    first.renameAirport("Kloten");
    await first.runUpTo("verify");
    first.state.withdraw(3);
    first.state.withdraw(null);
    expect(first.current()).toMatchObject({ generation: 4 });
    first.state.withdraw(4);
    expect(first.current()).toMatchObject({ generation: 3 });
  });

  it("leaves a run published if the stores had shown its version by then", async () => {
    first.renameAirport("Kloten");
    let isInR2 = false;
    first.before = (call) => {
      if (call !== `kv put ${MANIFEST_KEY}`) return;
      isInR2 = true;
      throw new Error("KV is away");
    };
    const { run } = await first.enqueue();
    await first.drain(() => isInR2);
    expect(await second.coordinator.takeOver("ops")).toMatchObject({ version: { generation: 5 } });
    await second.drain();
    await first.drain();
    expect(first.run(run.id)).toMatchObject({ outcome: "published", generation_after: 4 });
    expect(await first.served()).toMatchObject({ generation: 5, previous: 4 });
  });

  it("asks again if R2 does not answer whether it had shown a run's version", async () => {
    first.renameAirport("Kloten");
    let isInR2 = false;
    first.before = (call) => {
      if (call !== `kv put ${MANIFEST_KEY}`) return;
      isInR2 = true;
      throw new Error("KV is away");
    };
    const { run } = await first.enqueue();
    await first.drain(() => isInR2);
    await second.coordinator.takeOver("ops");
    await second.drain();
    let refusals = 1;
    first.before = (call) => {
      if (call === `r2 get ${generationKey(4)}` && refusals-- > 0) throw new Error("R2 is away");
    };
    await first.drain();
    expect(refusals).toBeLessThan(1);
    expect(first.run(run.id)).toMatchObject({ outcome: "published", generation_after: 4 });
  });

  it("keeps the owner before from collecting what the new one publishes", async () => {
    await second.coordinator.takeOver("ops");
    await second.coordinator.resume();
    await second.publishVersions(1);
    await second.drain();
    const before = stored();
    second.time = first.time;
    await first.collect();
    expect(stored()).toEqual(before);
  });

  it("fails if the owner publishes at the same moment, and may be repeated", async () => {
    second.before = async (call) => {
      if (call !== `r2 put ${MANIFEST_KEY}`) return;
      second.before = () => {};
      await first.publishVersions(1);
    };
    expect(await second.coordinator.takeOver("ops")).toMatchObject({ reason: "foreign_stores" });
    expect(await first.served()).toMatchObject({ generation: 4 });
    expect(await second.coordinator.takeOver("ops")).toMatchObject({ version: { generation: 5 } });
  });

  it("survives a crash before the stores have it", async () => {
    second.before = (call) => {
      if (call === `r2 put ${MANIFEST_KEY}`) second.crash();
    };
    await Promise.race([second.gone, second.coordinator.takeOver("ops")]);
    expect(second.calls).toContain(`r2 put ${MANIFEST_KEY}`);
    second.before = () => {};
    await second.drain();
    expect(second.coordinator.status()).toMatchObject({ foreign: null, replicated: true });
    expect(await second.served()).toMatchObject({ generation: 4 });
  });

  it("fails if a newer Worker has written the manifest, which no run replaces either", async () => {
    first.store.bucket.recorded.set(MANIFEST_KEY, { customMetadata: { format: "7" } });
    const before = stored();
    const detail = expect.stringContaining("format 7");
    const refused = { ok: false, reason: "foreign_stores", detail };
    expect(await second.coordinator.takeOver("ops")).toEqual(refused);
    expect(await first.coordinator.takeOver("ops")).toEqual(refused);
    expect(await first.runToEnd()).toMatchObject({ error: { message: detail } });
    expect(stored()).toEqual(before);
  });
});

/** R2 that remembers each manifest that was current. */
class RecordingMap extends Map<string, Uint8Array<ArrayBuffer>> {
  readonly manifests: Uint8Array<ArrayBuffer>[] = [];

  override set(key: string, value: Uint8Array<ArrayBuffer>): this {
    if (key === MANIFEST_KEY) this.manifests.push(value);
    return super.set(key, value);
  }
}

const anyDeed = fc.record({
  who: fc.nat(1),
  what: fc.constantFrom("publish", "publish", "go_on", "take_over", "roll_back", "crash", "look"),
  /** Fails all calls of a deed from this one on. */
  fails: fc.option(fc.nat(12), { freq: 3 }),
});
type Deed = typeof anyDeed extends fc.Arbitrary<infer D> ? D : never;

/** A deed of one installation, at a call of which the other does something. */
const anyMeeting = fc.record({ deed: anyDeed, meanwhile: fc.option(anyDeed), after: fc.nat(20) });

describe(
  "two installations over the same stores, whatever they do in whatever order,",
  UNHURRIED,
  () => {
    it("never decrease a generation, and never publish one by two runs", async () => {
      let takeovers = 0;
      let refusals = 0;
      const property = fc.asyncProperty(
        fc.array(anyMeeting, { maxLength: 12, size: "max" }),
        async (meetings) => {
          const r2 = new RecordingMap();
          const over = {
            store: { kv: new Map(), bucket: { files: r2, recorded: new Map() } },
            archive: { bucket: new MemoryBucket() },
          };
          const worlds = [0, 1].map(
            () => new CoordinatorWorld({ over, makePipeline: (deps) => new QuickPipeline(deps) }),
          );
          let texts = 0;
          const act = async ({ who, what, fails }: Deed, meet = (): Promise<void> | void => {}) => {
            const world = worlds[who];
            if (world === undefined) throw new Error("there are two");
            let calls = 0;
            world.before = async () => {
              if (fails !== null && calls++ >= fails) throw new Error("away");
              await meet();
            };
            const bytes = new TextEncoder().encode(`text ${++texts}`);
            world.upstream = { ...world.upstream, fetch: async () => [{ name: "text", bytes }] };
            if (what === "publish") await world.enqueue();
            if (what === "take_over") {
              const answer = await world.coordinator.takeOver("ops").catch(() => null);
              await world.coordinator.resume();
              if (answer?.ok === true && answer.changed) takeovers++;
            }
            if (what === "roll_back") {
              const generation = (world.current()?.generation ?? 2) - 1;
              if ((await world.coordinator.rollback(generation)).ok) texts++;
            }
            if (what === "crash") world.crash();
            if (what === "look") await world.coordinator.reconcile();
            for (let alarms = 0; world.alarmAt !== null && alarms < 12; alarms++) {
              world.time = Math.max(world.time, world.alarmAt);
              await world.alarm();
            }
            world.before = () => {};
          };
          for (const { deed, meanwhile, after } of meetings) {
            let left = after;
            await act(deed, async () => {
              if (left-- === 0 && meanwhile !== null && meanwhile.who !== deed.who)
                await act(meanwhile);
            });
          }
          // What one still had to write, the other finds.
          for (const world of [...worlds, ...worlds]) {
            await world.coordinator.reconcile();
            await world.drain();
          }
          const shown = await Promise.all(
            r2.manifests.map(async (text) => {
              const opened = await openManifest(text);
              if (!opened.ok) throw new Error(opened.problem);
              return opened.manifest;
            }),
          );
          for (const [index, { generation }] of shown.entries())
            expect(generation).toBeGreaterThanOrEqual(shown[index - 1]?.generation ?? 1);
          const runs = worlds.flatMap(({ history }) => [...history.rows.values()]);
          const published = runs.flatMap(({ run }) =>
            run.outcome === "published" ? [run.generation_after] : [],
          );
          expect(new Set(published).size).toBe(published.length);
          const generations = new Set(shown.map(({ generation }) => generation));
          expect(new Set(shown.map((manifest) => JSON.stringify(manifest))).size).toBe(
            generations.size,
          );
          for (const generation of published) expect(generations).toContain(generation);
          refusals += runs.filter(({ run }) => run.error?.code === "foreign_stores").length;
          const owners = worlds.filter(({ coordinator }) => coordinator.status().foreign === null);
          expect(owners.length).toBeLessThanOrEqual(shown.length === 0 ? 2 : 1);
          for (const owner of shown.length === 0 ? [] : owners)
            expect(await owner.served()).toEqual(owner.current());
        },
      );
      await fc.assert(property, fuzzed(40));
      expect(takeovers).toBeGreaterThan(0);
      expect(refusals).toBeGreaterThan(0);
    });
  },
);
