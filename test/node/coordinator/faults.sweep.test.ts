import { beforeEach, describe, expect, it } from "vitest";
import { sha256Hex } from "../../../src/catalog/bytes.ts";
import type { Run } from "../../../src/schemas/run.ts";
import { MANIFEST_KEY } from "../../../src/storage/keys.ts";
import { anAuditEntry } from "../../builders/audit.ts";
import { aSnapshot, moreAirports } from "../../builders/small-snapshot.ts";
import { CoordinatorWorld } from "../../builders/coordinator-world.ts";

let world: CoordinatorWorld;

beforeEach(() => {
  world = new CoordinatorWorld();
});

/** The states of a run's row as they were written down, in order. */
const sentStates = (id: string) => sent.filter((run) => run.id === id).map(({ state }) => state);
let sent: Run[] = [];

/** Remembers each row that arrives. */
function watchHistory(): void {
  sent = [];
  const { history } = world;
  const save = history.save.bind(history);
  history.save = (rows) => {
    sent.push(...rows.map(({ run }) => run));
    save(rows);
  };
}

/** What is served and stored, in short. */
async function picture(of: CoordinatorWorld): Promise<object> {
  const blobs = [...of.store.kv].map(([key, bytes]) => `${key} ${sha256Hex(bytes)}`).toSorted();
  const manifest = await of.served();
  return {
    blobs: blobs.filter((blob) => !blob.startsWith(MANIFEST_KEY)),
    ...manifest,
    published_at: "",
  };
}

describe("the coordinator while D1 is down", () => {
  it("continues its runs, whose rows arrive afterwards, each once and in order", async () => {
    watchHistory();
    world.before = (call) => {
      if (call === "d1 save") throw new Error("D1_ERROR");
    };
    const { run } = await world.enqueue();
    await world.drain(() => world.run(run.id).state === "succeeded");
    expect(await world.served()).toMatchObject({ generation: 1 });
    expect(world.history.rows.size).toBe(0);
    const waiting = world.coordinator.status().outboxLength;
    expect(waiting).toBeGreaterThan(3);
    world.before = () => {};
    await world.drain();
    expect(world.history.arrivals).toEqual(Array.from({ length: waiting }, (_, i) => i + 1));
    expect(sentStates(run.id)[0]).toBe("queued");
    expect(sentStates(run.id).at(-1)).toBe("succeeded");
    expect(world.history.rows.get(run.id)?.run).toEqual(world.run(run.id));
    expect(world.coordinator.status().outboxLength).toBe(0);
  });

  it("waits before it tries D1 again", async () => {
    world.before = (call) => {
      if (call === "d1 save") throw new Error("D1_ERROR");
    };
    const { run } = await world.enqueue();
    await world.drain(() => world.run(run.id).state === "succeeded");
    expect(world.callsOf("d1 save")).toHaveLength(1);
  });
});

describe("a D1 that fails at one write, whichever that is,", () => {
  const faults = { "refuses the write": "before", "loses the reply": "after" } as const;

  it.each(Object.entries(faults))(
    "gets one row that shows the end of the run, even if it %s",
    async (_, when) => {
      await world.runToEnd();
      const writes = world.callsOf("d1 save").length;
      expect(writes).toBeGreaterThan(3);
      for (let bad = 1; bad <= writes; bad++) {
        world = new CoordinatorWorld();
        watchHistory();
        let made = 0;
        world[when] = (call) => {
          if (call === "d1 save" && ++made === bad) throw new Error("D1_ERROR");
        };
        const run = await world.runToEnd();
        expect(made, `write ${bad}`).toBeGreaterThan(bad);
        expect([...world.history.rows.keys()]).toEqual([run.id]);
        expect(world.history.rows.get(run.id)?.run).toEqual(run);
        expect(sentStates(run.id).at(-1)).toBe("succeeded");
        expect(world.coordinator.status().outboxLength).toBe(0);
      }
    },
  );
});

describe("a D1 that takes a call and never answers", () => {
  it.each(["d1 save", "d1 delete", "d1 audit", "d1 look"])(
    "does not stop the run at “%s”, and every row arrives when D1 answers again",
    async (hanging) => {
      world.historyDeadlineMs = 50;
      world.crash();
      world.before = async (call) => {
        if (call === hanging) await new Promise<never>(() => {});
      };
      await world.coordinator.keepAuditEntry(anAuditEntry());
      const { run } = await world.enqueue();
      await world.coordinator.reconcile();
      await world.drain(() => world.run(run.id).state === "succeeded");
      expect(await world.served()).toMatchObject({ generation: 1 });
      await world.alarm();
      expect(world.callsOf(hanging)).not.toEqual([]);
      world.before = () => {};
      await world.drain();
      expect(world.history.stateOf(run.id)).toBe("succeeded");
      expect(world.audit.size).toBe(1);
      expect(world.coordinator.status().outboxLength).toBe(0);
    },
  );
});

describe("a dependency that fails once, at any one of its calls,", () => {
  it("leads to the same version, and the run counts one retry", async () => {
    world = new CoordinatorWorld();
    await world.runToEnd();
    const undisturbed = await picture(world);
    // D1 and the search for garbage are no part of a run.
    const steps = [...new Set(world.calls)].filter((call) => !/^d1 | list/.test(call));
    expect(steps.length).toBeGreaterThan(20);
    for (const call of steps) {
      const disturbed = new CoordinatorWorld();
      let failed = false;
      disturbed.before = (made) => {
        if (made !== call || failed) return;
        failed = true;
        throw new Error("no connection");
      };
      const run = await disturbed.runToEnd();
      expect(run, call).toMatchObject({ state: "succeeded", outcome: "published", retries: 1 });
      expect(await picture(disturbed), call).toEqual(undisturbed);
    }
  });
});

describe("a crash at any one call", () => {
  it("does not stop the run, which publishes the same version and whose row arrives", async () => {
    world = new CoordinatorWorld();
    await world.runToEnd();
    const undisturbed = await picture(world);
    for (const call of new Set(world.calls)) {
      const disturbed = new CoordinatorWorld();
      let crashed = false;
      disturbed.before = (made) => {
        if (made !== call || crashed) return;
        crashed = true;
        disturbed.crash();
      };
      const run = await disturbed.runToEnd();
      expect(crashed, call).toBe(true);
      expect(run, call).toMatchObject({ state: "succeeded", outcome: "published" });
      expect(await picture(disturbed), call).toEqual(undisturbed);
      expect(disturbed.history.rows.get(run.id)?.run, call).toEqual(run);
    }
  });
});

describe("a store that refuses for good", () => {
  it("fails the run after five attempts, retries it after a minute, and keeps serving the old version", async () => {
    await world.runToEnd();
    const served = await world.served();
    world.renameAirport("Kloten");
    const attemptsAt = new Set<number>();
    // KV refuses with 429 here: the local KV takes any number of writes.
    world.before = (call) => {
      if (!call.startsWith("kv put catalog/blob/")) return;
      attemptsAt.add(world.time);
      throw new Error("429");
    };
    const run = await world.runToEnd();
    const [first = 0, ...others] = attemptsAt;
    const tries = [0, 1_000, 3_000, 7_000, 15_000];
    const secondTry = 15_000 + 60_000;
    expect([first, ...others].map((at) => at - first)).toEqual([
      ...tries,
      ...tries.map((ms) => secondTry + ms),
    ]);
    expect(run).toMatchObject({
      state: "failed",
      retries: 4,
      error: { code: "store_fault", stage: "guard", message: expect.stringContaining("429") },
      generation_after: null,
    });
    const states = [...world.history.rows.values()].map((row) => row.run.state);
    expect(states).toEqual(["succeeded", "failed", "failed"]);
    expect(await world.served()).toEqual(served);
    expect(world.callsOf(`kv put ${MANIFEST_KEY}`)).toHaveLength(1);
  });

  it("does not fail a run that has published, whose step repeats until the stores show the version", async () => {
    const attemptsAt: number[] = [];
    world.before = (call) => {
      if (call === `kv put ${MANIFEST_KEY}` && attemptsAt.push(world.time) <= 12)
        throw new Error("429");
    };
    expect(await world.runToEnd()).toMatchObject({ outcome: "published", retries: 12 });
    const pauses = attemptsAt.slice(1).map((at, index) => at - (attemptsAt[index] ?? 0));
    expect(pauses.map((ms) => ms / 1000)).toEqual([1, 2, 4, 8, 16, 32, 60, 60, 60, 60, 60, 60]);
    expect(await world.served()).toMatchObject({ generation: 1 });
  });
});

describe("a deployment with another snapshot", () => {
  it("replicates what a run has published before, and publishes nothing else", async () => {
    const { id } = await world.runUpTo("verify");
    const published = world.current();
    world.snapshot = aSnapshot({ airports: moreAirports(4) });
    world.crash();
    await world.drain();
    expect(world.run(id)).toMatchObject({ outcome: "published", generation_after: 1 });
    expect(await world.served()).toEqual(published);
  });
});

describe("a bug", () => {
  it("repeats the step, then fails the run as internal without a retry", async () => {
    world.before = (call) => {
      if (call === "upstream fetch") throw new TypeError("x is not a function");
    };
    expect(await world.runToEnd()).toMatchObject({
      state: "failed",
      retries: 4,
      error: { code: "internal", stage: "fetch", message: "TypeError: x is not a function" },
    });
    expect(world.history.rows.size).toBe(1);
    expect(world.callsOf("upstream fetch")).toHaveLength(5);
  });
});
