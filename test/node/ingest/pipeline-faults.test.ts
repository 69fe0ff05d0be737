import { beforeAll, describe, expect, it } from "vitest";
import { sha256Hex } from "../../../src/catalog/hash.ts";
import type { Manifest } from "../../../src/catalog/manifest.ts";
import { generationKey, MANIFEST_KEY } from "../../../src/storage/keys.ts";
import { PipelineWorld } from "../../builders/pipeline-world.ts";
import { aSnapshot, moreAirports } from "../../builders/small-snapshot.ts";

const LOCALES = ["de", "en"];

/** What an undisturbed run publishes and stores, and the calls that it makes. */
let undisturbed: {
  readonly manifest: Manifest | null;
  readonly kv: readonly string[];
  readonly calls: readonly string[];
  readonly opened: readonly string[];
};

beforeAll(async () => {
  const world = new PipelineWorld(LOCALES);
  await world.runToEnd();
  undisturbed = {
    manifest: world.current,
    kv: hashes(world.store.kv),
    calls: [...new Set(world.store.calls)],
    opened: [...new Set(world.archive.calls)],
  };
});

/** What a replica holds, in short. */
function hashes(replica: ReadonlyMap<string, Uint8Array>): string[] {
  return [...replica].map(([key, bytes]) => `${key} ${sha256Hex(bytes)}`).toSorted();
}

/** Runs to the end, going on after each fault with a pipeline that remembers nothing. */
async function runWithCrashes(world: PipelineWorld): Promise<number> {
  let pipeline = world.newPipeline();
  for (let crashes = 0; ;) {
    try {
      if ((await world.step(pipeline)).next === null) return crashes;
    } catch {
      crashes++;
      pipeline = world.newPipeline();
    }
  }
}

/** Lets upstream say something else, which an operator approves. */
function changeContent(world: PipelineWorld): void {
  world.snapshot = aSnapshot({ airports: moreAirports(4) });
  world.forced = true;
}

/** Throws the first time that a call is made. */
function failOnce(call: string): (made: string) => void {
  let failed = false;
  return (made) => {
    if (made !== call || failed) return;
    failed = true;
    throw new Error("no connection");
  };
}

describe("a run that loses its memory", () => {
  it("before every step publishes the same bytes", async () => {
    const world = new PipelineWorld(LOCALES);
    await world.runToEnd("incremental", () => world.newPipeline());
    expect(JSON.stringify(world.current)).toBe(JSON.stringify(undisturbed.manifest));
  });

  it("and fails at any one call to the stores that counts publishes the same bytes", async () => {
    for (const call of undisturbed.calls.filter((each) => !each.startsWith("kv get"))) {
      const world = new PipelineWorld(LOCALES);
      world.store.before = failOnce(call);
      expect(await runWithCrashes(world), call).toBe(1);
      expect(JSON.stringify(world.current), call).toBe(JSON.stringify(undisturbed.manifest));
      expect(hashes(world.store.kv), call).toEqual(undisturbed.kv);
    }
  });

  it("and fails at any one call to the archive publishes the same bytes", async () => {
    for (const call of undisturbed.opened) {
      const world = new PipelineWorld(LOCALES);
      world.archive.before = failOnce(call);
      expect(await runWithCrashes(world), call).toBe(1);
      expect(JSON.stringify(world.current), call).toBe(JSON.stringify(undisturbed.manifest));
    }
  });
});

describe("until all of a version is stored", () => {
  it("no manifest is written: a blob that KV refuses leaves the published version as it is", async () => {
    const blobs = undisturbed.calls.filter((call) => call.startsWith("kv put catalog/blob/"));
    for (const blob of blobs) {
      const world = new PipelineWorld(LOCALES);
      world.store.before = (call) => {
        if (call === blob) throw new Error("429");
      };
      await expect(world.runToEnd(), blob).rejects.toThrow("429");
      expect(world.current).toBeNull();
      expect(world.store.count(`kv put ${MANIFEST_KEY}`)).toBe(0);
      expect(world.store.count("r2 put catalog/manifest")).toBe(0);
    }
  });
});

describe("the verify step", () => {
  it("repeats until the stores agree with the recorded version", async () => {
    const world = new PipelineWorld(LOCALES);
    let refusals = 3;
    world.store.before = (call) => {
      if (call === `kv put ${MANIFEST_KEY}` && refusals-- > 0) throw new Error("429");
    };
    expect(await runWithCrashes(world)).toBe(3);
    const copy = await world.store.readManifest("kv");
    expect(copy).toEqual({ ok: true, value: undisturbed.manifest });
  });

  it("does not end while R2 still answers with an older manifest", async () => {
    const world = new PipelineWorld(LOCALES);
    await world.runToEnd();
    const old = world.store.r2.get(MANIFEST_KEY) ?? new Uint8Array();
    changeContent(world);
    world.store.before = (call) => {
      if (call === `r2 get ${MANIFEST_KEY}`) world.store.r2.set(MANIFEST_KEY, old);
    };
    await expect(world.runToEnd()).rejects.toThrow("R2 shows generation 1 instead of 2");
    expect(world.checkpoint.stage).toBe("verify");
    world.store.before = () => {};
    expect(await world.step(world.newPipeline())).toMatchObject({ outcome: "published" });
  });

  it("keeps a copy of each generation in R2", async () => {
    const world = new PipelineWorld(LOCALES);
    await world.runToEnd();
    changeContent(world);
    await world.runToEnd();
    expect(world.store.r2.has(generationKey(1))).toBe(true);
    expect(world.store.r2.has(generationKey(2))).toBe(true);
    expect(await world.store.readGeneration(2)).toEqual({ ok: true, value: world.current });
  });
});
