import { beforeEach, describe, expect, it } from "vitest";
import { createHistory } from "../../../src/storage/run-history.ts";
import { TransientSourceError, SourceError } from "../../../src/sources/source-error.ts";
import { generationKey, MANIFEST_KEY } from "../../../src/storage/keys.ts";
import { anId } from "../../builders/an-id.ts";
import { startEachFrom, CoordinatorWorld } from "../../builders/coordinator-world.ts";
import { manifestBytes } from "../../builders/memory-catalog-store.ts";
import { MemoryD1 } from "../../builders/memory-d1.ts";
import { anEnqueueRequest, aRunRecord } from "../../builders/run.ts";

let world: CoordinatorWorld;

beforeEach(() => {
  world = new CoordinatorWorld({ locales: ["de", "en"] });
});

describe("a new coordinator over stores without a manifest of another", () => {
  const reset = new CoordinatorWorld({ locales: ["de", "en"] });
  startEachFrom(reset, async () => {
    await reset.publishVersions(3);
    reset.loseTables();
    reset.store.r2.delete(MANIFEST_KEY);
  });

  beforeEach(() => {
    world = reset;
  });

  it("continues with the next generation, and can roll back to earlier versions", async () => {
    world.renameAirport("Kloten");
    expect(await world.runToEnd()).toMatchObject({ generation_before: 3, generation_after: 4 });
    const generations = world.coordinator.versions().map(({ generation }) => generation);
    expect(generations).toEqual([4, 3, 2, 1]);
    expect(await world.coordinator.rollback(1)).toMatchObject({ version: { generation: 5 } });
  });

  it("queues no first ingest, because the stores have a published version", async () => {
    await world.coordinator.reconcile();
    await world.drain();
    expect(world.state.runs()).toEqual([]);
    expect(world.current()).toMatchObject({ generation: 3 });
  });

  it("adopts the highest stored generation even if KV has lost its manifest as well", async () => {
    world.store.kv.delete(MANIFEST_KEY);
    expect(world.store.r2.has(generationKey(3))).toBe(true);
    world.renameAirport("Kloten");
    expect(await world.runToEnd()).toMatchObject({ generation_after: 4 });
  });

  it("deletes no object that a version names, even if no run starts for a day", async () => {
    await world.coordinator.pause({ by: "ops", note: null, until: null }, false);
    const stored = () => [...world.store.kv.keys(), ...world.store.r2.keys()].toSorted();
    const before = [...stored(), MANIFEST_KEY].toSorted();
    await world.collect();
    expect(stored()).toEqual(before);
    expect(world.coordinator.versions().map(({ generation }) => generation)).toEqual([3, 2, 1]);
  });

  it("deletes nothing while a manifest cannot be read", async () => {
    const stored = () => [...world.store.kv.keys(), ...world.store.r2.keys()].toSorted();
    const before = stored();
    world.before = (call) => {
      if (call === `r2 get ${generationKey(2)}`) throw new Error("R2 is away");
    };
    await world.collect();
    expect(stored()).toEqual(before);
  });

  it("starts no run before it has read the stores", async () => {
    let refusals = 2;
    world.before = (call) => {
      if (call === `r2 get ${generationKey(3)}` && refusals-- > 0) throw new Error("R2 is away");
    };
    world.renameAirport("Kloten");
    expect(await world.runToEnd()).toMatchObject({ generation_after: 4 });
    expect(refusals).toBeLessThan(0);
  });
});

describe("a new coordinator over empty stores", () => {
  const tick = async () => {
    await world.coordinator.reconcile();
    await world.drain();
  };

  it("ingests by itself at the first comparison, and only once", async () => {
    await tick();
    expect(await world.served()).toMatchObject({ generation: 1 });
    const [first] = world.state.runs();
    expect(first).toMatchObject({ trigger: "cron", requested_by: "cron", outcome: "published" });
    await tick();
    expect(world.state.runs()).toHaveLength(1);
  });

  it("waits for the end of a pause, whatever it has skipped meanwhile", async () => {
    await world.coordinator.pause({ by: "ops", note: null, until: null }, false);
    await tick();
    await world.coordinator.tick("17 4 * * *", world.time, anEnqueueRequest({ trigger: "cron" }));
    expect(world.state.runs()).toMatchObject([{ state: "skipped" }]);
    await world.coordinator.resume();
    await tick();
    expect(await world.served()).toMatchObject({ generation: 1 });
  });

  /** Reconciles every five minutes, as the cron trigger does. */
  const pass = async (minutes: number) => {
    for (const end = world.time + minutes * 60_000; world.time < end;) {
      world.time = Math.min(end, world.time + 300_000);
      await tick();
    }
  };

  it("serves without a call once an upstream answers that was away for ten minutes", async () => {
    const { upstream } = world;
    const backAt = world.time + 600_000;
    const fetch = async () => {
      if (world.time >= backAt) return upstream.fetch({});
      throw new TransientSourceError("unreachable", "no upstream");
    };
    world.upstream = { ...upstream, fetch };
    await tick();
    expect(world.state.runs()).toMatchObject([
      { state: "failed", trigger: "retry" },
      { state: "failed", trigger: "cron" },
    ]);
    await pass(10);
    expect(await world.served()).toMatchObject({ generation: 1 });
  });

  it("serves once a store takes writes that has refused them", async () => {
    let isAway = true;
    world.before = (call) => {
      if (isAway && call.startsWith("kv put")) throw new Error("429");
    };
    await tick();
    expect(await world.served()).toBeNull();
    isAway = false;
    await pass(5);
    expect(await world.served()).toMatchObject({ generation: 1 });
  });

  it("tries again a quarter of an hour after a fault that repeating does not fix", async () => {
    const { upstream } = world;
    const fetch = () => Promise.reject(new SourceError("missing_file", "no file"));
    world.upstream = { ...upstream, fetch };
    await tick();
    await pass(10);
    expect(world.state.runs()).toMatchObject([{ error: { code: "source_missing_file" } }]);
    world.upstream = upstream;
    await pass(5);
    expect(await world.served()).toMatchObject({ generation: 1 });
  });

  it.each([
    ["two hours", 120, 1, 120],
    ["half an hour, also before its retry,", 30, 2, 30],
    ["a week, but six hours at most,", 7 * 24 * 60, 1, 360],
  ])("leaves an upstream alone that asks for %s", async (_, askedMinutes, runs, minutes) => {
    const { upstream } = world;
    const refuse = async () => {
      throw new TransientSourceError("http_status", "busy", askedMinutes * 60_000);
    };
    world.upstream = { ...upstream, fetch: refuse };
    await tick();
    world.upstream = upstream;
    await pass(minutes - 5);
    expect(world.state.runs()).toHaveLength(runs);
    expect(await world.served()).toBeNull();
    await pass(5);
    expect(await world.served()).toMatchObject({ generation: 1 });
  });

  it("waits for no source that is no longer configured", async () => {
    const { upstream } = world;
    const fetch = async () => {
      throw new TransientSourceError("http_status", "busy", 6 * 3_600_000);
    };
    world.source = "other";
    world.crash();
    world.upstream = { ...upstream, fetch };
    await tick();
    world.source = "embedded";
    world.crash();
    world.upstream = upstream;
    await pass(15);
    expect(await world.served()).toMatchObject({ generation: 1 });
  });

  it("ingests after a dry run, which publishes nothing", async () => {
    await world.runToEnd({ mode: "dry_run" });
    await tick();
    expect(await world.served()).toMatchObject({ generation: 1 });
  });

  it("leaves it to people after an operator has cancelled a run", async () => {
    const { run } = await world.enqueue();
    await world.coordinator.cancel(run.id, { by: "ops", note: null });
    await pass(60);
    expect(world.state.runs()).toMatchObject([{ state: "cancelled" }]);
    await world.enqueue({ mode: "dry_run" });
    await world.drain();
    await pass(60);
    expect(world.state.runs()).toMatchObject([{ mode: "dry_run" }, { state: "cancelled" }]);
  });

  it("does not ingest while a store cannot be read, which may have a version", async () => {
    let isAway = true;
    world.before = (call) => {
      if (isAway && call.startsWith("r2")) throw new Error("R2 is away");
    };
    await tick();
    expect(world.state.runs()).toEqual([]);
    isAway = false;
    await tick();
    expect(await world.served()).toMatchObject({ generation: 1 });
  });
});

describe("a version in KV that this installation has not published", () => {
  it.each([
    ["of the same number", 2],
    ["of a higher number", 9],
  ])("gives way to a higher one, which readers accept, if it is %s", async (_, generation) => {
    await world.publishVersions(2);
    const current = world.current();
    if (current === null) throw new Error("nothing is published");
    const published_at = "2026-01-01T00:00:00.000Z";
    const other = { ...current, generation, published_at, catalog_sha256: "ab".repeat(32) };
    world.store.kv.set(MANIFEST_KEY, manifestBytes(other));
    await world.coordinator.reconcile();
    await world.drain();
    const { catalog_sha256 } = current;
    const expected = { generation: generation + 1, previous: 2, catalog_sha256 };
    expect(await world.served()).toMatchObject(expected);
    expect(world.current()).toMatchObject(expected);
    expect(world.events).toContainEqual(
      expect.objectContaining({ event: "unknown_version_replaced" }),
    );
  });
});

describe("a manifest in KV that differs from the published one", () => {
  it("gives way to one above it, though it has the same number and time", async () => {
    await world.publishVersions(2);
    const current = world.current();
    if (current === null) throw new Error("nothing is published");
    const counts = { ...current.counts, airports: 1 };
    world.store.kv.set(MANIFEST_KEY, manifestBytes({ ...current, counts }));
    await world.coordinator.reconcile();
    await world.drain();
    expect(await world.served()).toEqual(world.current());
    expect(await world.served()).toMatchObject({ generation: 3, counts: current.counts });
  });
});

describe("a manifest that is lost", () => {
  it.each([[["kv"]], [["r2"]], [["kv", "r2"]]] as const)(
    "comes back to %j at the next tick",
    async (replicas) => {
      await world.publishVersions(1);
      const current = world.current();
      for (const replica of replicas) world.store[replica].delete(MANIFEST_KEY);
      await world.coordinator.reconcile();
      await world.drain();
      for (const replica of replicas)
        expect(await world.store.readManifest(replica)).toEqual({ ok: true, value: current });
    },
  );
});

describe("a run that D1 has lost", () => {
  it("is sent again, and is no loss if D1 has an earlier one", async () => {
    await world.publishVersions(2);
    const lost = new Set<string>();
    world.findMissingRuns = async (ids) => ids.filter((id) => lost.has(id));
    const [newest, oldest] = world.state.runs();
    const saved = () => [...world.history.rows.keys()];
    for (const [run, isLoss] of [
      [newest, false],
      [oldest, true],
    ] as const) {
      lost.clear();
      lost.add(run?.id ?? "");
      world.history.rows.clear();
      await world.coordinator.reconcile();
      await world.drain();
      expect(saved()).toEqual([run?.id]);
      expect(world.coordinator.status().historyLostAt !== null).toBe(isLoss);
    }
  });
});

describe("the coordinator", () => {
  it("distinguishes a new D1 from one that has lost its runs", async () => {
    let isAway = true;
    world.before = (call) => {
      if (isAway && call === "d1 save") throw new Error("D1 is away");
    };
    const { run } = await world.enqueue();
    await world.drain(() => world.run(run.id).state === "succeeded");
    expect(world.state.hasSavedRuns()).toBe(false);
    isAway = false;
    await world.drain();
    expect(world.state.hasSavedRuns()).toBe(true);
  });
});

describe("a row of D1 that shows a run as open", () => {
  it("ends once the outbox is empty, if the coordinator does not know the run", async () => {
    const history = createHistory(MemoryD1.migrated().binding);
    const save = (id: string, state: "running" | "succeeded") =>
      history.saveRuns([{ seq: 1, run: aRunRecord({ id, state }).job }]);
    await save(anId(8), "running");
    await save(anId(9), "succeeded");
    world.endLostRuns = (open) => history.endLostRuns(open, world.time);
    const { run } = await world.enqueue();
    await save(run.id, "running");
    await world.coordinator.pause({ by: "ops", note: null, until: null }, false);
    await world.drain();
    await world.coordinator.reconcile();
    await world.drain();
    const states = (await history.listRuns({ limit: 9, cursor: undefined })) as unknown as {
      runs: readonly { readonly id: string; readonly state: string }[];
    };
    expect(Object.fromEntries(states.runs.map(({ id, state }) => [id, state]))).toEqual({
      [anId(8)]: "failed",
      [anId(9)]: "succeeded",
      [run.id]: "running",
    });
  });
});

describe("the changes of a run", () => {
  it("appear in the default locale", async () => {
    await world.publishVersions(1);
    world.renameAirport("Kloten");
    expect(await world.runToEnd()).toMatchObject({ changes: { locale: "en" } });
  });
});
