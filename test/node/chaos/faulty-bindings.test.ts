import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { MANIFEST_KEY } from "../../../src/storage/keys.ts";
import type { Binding, Fault, FaultPlan } from "../../chaos/fault-plan.ts";
import { faultyEnv } from "../../chaos/faulty-bindings.ts";
import { FaultyCalls } from "../../chaos/faulty-calls.ts";

const HANG_MS = 20;
const WRITTEN = "written";

const bytesOf = (text: string) => new TextEncoder().encode(text).buffer;
const textOf = (bytes: ArrayBuffer | null) => bytes && new TextDecoder().decode(bytes);

/** Each binding as far as faults reach it, over one map, with a way to write and one to read. */
function aWorld() {
  const stored = new Map<string, string>();
  const read = (key: string) => {
    const text = stored.get(key);
    return text === undefined ? null : bytesOf(text);
  };
  const write = async (key: string) => {
    stored.set(key, WRITTEN);
  };
  const statement = {
    bind: () => statement,
    first: async () => stored.get("d1") ?? null,
    run: async () => write("d1"),
  };
  const object = { getByName: () => ({ call: async () => write("object") }) };
  const calls = new FaultyCalls();
  const bindings = {
    CATALOG: { get: async (key: string) => read(key), put: write },
    ARCHIVE: {
      async get(key: string) {
        const bytes = read(key);
        return bytes && { arrayBuffer: async () => bytes };
      },
      put: write,
    },
    HISTORY: { prepare: () => statement },
    COORDINATOR: object,
    BACKUPS: {},
  };
  const env = faultyEnv(bindings as unknown as Env, calls); // no more of them is used here
  const coordinator = () => env.COORDINATOR.getByName("") as unknown as { call(): Promise<void> }; // the object above
  return {
    stored,
    calls,
    env,
    write: {
      kv: async () => env.CATALOG.put("kv", WRITTEN),
      r2: async () => env.ARCHIVE.put("r2", WRITTEN),
      d1: async () => env.HISTORY.prepare("").bind().run(),
      object: async () => coordinator().call(),
    } satisfies { [B in Binding]: () => Promise<unknown> },
    readKv: async (key = "kv") => textOf(await env.CATALOG.get(key, "arrayBuffer")),
    readR2: async () => {
      const found = await env.ARCHIVE.get("r2");
      return found && textOf(await found.arrayBuffer());
    },
  };
}

/** A plan by which each call to a binding meets a fault. */
const always = (binding: Binding, fault: Fault): FaultPlan => ({
  seed: 61, // with which a slow call takes 24 ms
  rates: { [binding]: { [fault]: 1 } },
  hangMs: HANG_MS,
});

describe.each<Binding>(["kv", "r2", "d1", "object"])("a write to %s", (binding) => {
  it("that is refused has no effect", async () => {
    const { stored, calls, write } = aWorld();
    calls.plan = always(binding, "throw");
    await expect(write[binding]()).rejects.toThrow(/injected: .* throw/);
    expect(stored.get(binding)).toBeUndefined();
  });

  it("that hangs is refused late, and has no effect", async () => {
    const { stored, calls, write } = aWorld();
    calls.plan = always(binding, "hang");
    const began = performance.now();
    await expect(write[binding]()).rejects.toThrow(/injected: .* hang/);
    expect(performance.now() - began).toBeGreaterThan(HANG_MS / 2);
    expect(stored.get(binding)).toBeUndefined();
  });

  it("that is slow has its effect late", async () => {
    const { stored, calls, write } = aWorld();
    calls.plan = always(binding, "slow");
    const writing = write[binding]();
    await sleep(0);
    expect(stored.get(binding)).toBeUndefined();
    await writing;
    expect(stored.get(binding)).toBe(WRITTEN);
  });

  it("whose reply is lost has its effect, and its caller sees an error", async () => {
    const { stored, calls, write } = aWorld();
    calls.plan = always(binding, "lost_reply");
    await expect(write[binding]()).rejects.toThrow(/injected: .* lost_reply/);
    expect(stored.get(binding)).toBe(WRITTEN);
  });
});

describe("what was injected", () => {
  it("is counted with what was to be expected, once", async () => {
    const { calls, write } = aWorld();
    calls.plan = { seed: 1, rates: { kv: { throw: 0.5, lost_reply: 0.25, corrupt: 1 } } };
    for (let times = 0; times < 40; times++) await write.kv().catch(() => undefined);
    const { times, faults } = calls.takeInjected();
    expect(Object.keys(times).toSorted()).toEqual(["kv put lost_reply", "kv put throw"]);
    expect(faults).toEqual({
      "kv throw": { times: times["kv put throw"], expected: 20 },
      "kv lost_reply": { times: times["kv put lost_reply"], expected: 10 },
    });
    expect(calls.takeInjected()).toEqual({ times: {}, faults: {} });
  });

  it("does not count damage that changes nothing, but where there was nothing", async () => {
    const { stored, calls, readKv } = aWorld();
    calls.plan = always("kv", "corrupt");
    stored.set("kv", "");
    await readKv();
    expect(calls.takeInjected().times).toEqual({});
    stored.delete("kv");
    await readKv();
    expect(calls.takeInjected().times).toEqual({ "kv get corrupt": 1 });
  });
});

describe("a read", () => {
  it("that is corrupt shows other bytes than are stored", async () => {
    const { stored, calls, readKv, readR2 } = aWorld();
    stored.set("kv", WRITTEN).set("r2", WRITTEN);
    calls.plan = always("kv", "corrupt");
    expect(await readKv()).not.toBe(WRITTEN);
    calls.plan = always("r2", "corrupt");
    expect(await readR2()).not.toBe(WRITTEN);
    expect(stored.get("kv")).toBe(WRITTEN);
  });

  it("that misses shows nothing, though something is stored", async () => {
    const { stored, calls, readKv } = aWorld();
    stored.set("kv", WRITTEN);
    expect(await readKv()).toBe(WRITTEN);
    calls.plan = always("kv", "missing");
    expect(await readKv()).toBeNull();
  });

  it("of a stale manifest shows the value before, however often the present one was seen", async () => {
    const { stored, calls, readKv } = aWorld();
    for (const value of ["first", "second"]) {
      stored.set(MANIFEST_KEY, value);
      for (let times = 0; times < 5; times++) expect(await readKv(MANIFEST_KEY)).toBe(value);
    }
    calls.plan = always("kv", "stale");
    expect(await readKv(MANIFEST_KEY)).toBe("first");
  });

  it("of what never changed, or of no manifest, is not stale", async () => {
    const { stored, calls, readKv } = aWorld();
    stored.set("kv", WRITTEN).set(MANIFEST_KEY, WRITTEN);
    await readKv(MANIFEST_KEY);
    calls.plan = always("kv", "stale");
    expect([await readKv(), await readKv(MANIFEST_KEY)]).toEqual([WRITTEN, WRITTEN]);
  });
});
