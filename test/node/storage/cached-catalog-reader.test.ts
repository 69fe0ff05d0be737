import { beforeEach, describe, expect, it } from "vitest";
import { sha256Hex } from "../../../src/catalog/hash.ts";
import type { Coding, Manifest } from "../../../src/catalog/manifest.ts";
import { blobKey } from "../../../src/storage/keys.ts";
import { aVersion, blobsOf } from "../../builders/manifest.ts";
import { ReaderWorld } from "../../builders/reader-world.ts";

const one = aVersion(1, "one");
const two = aVersion(2, "two");

let world: ReaderWorld;

beforeEach(() => {
  world = new ReaderWorld();
});

interface Asked {
  readonly codings?: readonly Coding[];
  readonly isExact?: boolean;
}

function open(manifest: Manifest, { codings = ["identity"], isExact = false }: Asked = {}) {
  const representation = "proto";
  return world.reader.open({ manifest, locale: "en", representation, codings, isExact });
}

/** What a body says, and of which generation and coding it is, or why there is none. */
async function read(manifest: Manifest, asked: Asked = {}) {
  const answer = await open(manifest, asked);
  if (!answer.ok) return answer.reason;
  const { opened } = answer;
  const text = await new Response(opened.content.stream()).text();
  expect(sha256Hex(text)).toBe(opened.body.sha256);
  return [text, opened.manifest.generation, opened.coding];
}

const ONE = ["<one common|one local>", 1, "identity"];
const TWO = ["<two common|two local>", 2, "identity"];
const TWO_GZIP = ["<two gz common|two gz local>", 2, "gzip"];

type Place = "kv" | "r2";

function lose(where: readonly Place[], text: string): void {
  for (const replica of where)
    for (const [sha256] of blobsOf(text)) world.store[replica].delete(blobKey(sha256));
}

function flipBit(where: readonly Place[], text: string): void {
  for (const replica of where) {
    const [sha256 = ""] = blobsOf(text)[1] ?? [];
    const bytes = world.store[replica].get(blobKey(sha256));
    if (bytes === undefined) throw new Error(`${text} is not in ${replica}`);
    bytes[3] = (bytes[3] ?? 0) ^ 1;
  }
}

/** Lets the isolate hold version one, then see version two. */
async function holdOne(codings: readonly Coding[] = ["identity"]): Promise<void> {
  world.store.publish(one);
  await world.reader.current();
  await read(one.manifest, { codings });
  world.store.publish(two);
  world.time += 30_000;
  await world.reader.current();
  await world.settle();
}

describe("a body", () => {
  it("consists of its segments, and is held: the next requests touch no store", async () => {
    world.store.publish(one);
    expect(await read(one.manifest)).toEqual(ONE);
    const calls = world.store.calls.length;
    for (let request = 0; request < 3; request++) expect(await read(one.manifest)).toEqual(ONE);
    expect(world.store.calls).toHaveLength(calls);
    expect(world.store.count("r2")).toBe(0);
  });

  it("is in the first coding that is published", async () => {
    world.store.publish(two);
    expect(await read(two.manifest, { codings: ["br", "gzip", "identity"] })).toEqual(TWO_GZIP);
  });

  it("is served also where nothing can be held", async () => {
    world = new ReaderWorld({ cacheMaxBytes: 0 });
    world.store.publish(one);
    expect(await read(one.manifest)).toEqual(ONE);
    expect(await read(one.manifest)).toEqual(ONE);
    expect(world.store.calls).toHaveLength(4);
  });
});

describe("a blob that KV cannot give", () => {
  it.each([
    ["is missing", () => lose(["kv"], "two")],
    ["has one bit flipped", () => flipBit(["kv"], "two")],
    ["is not to be had", () => world.breakCalls("kv get catalog/blob/")],
  ])("comes from R2 when it %s", async (_, disturb) => {
    world.store.publish(two);
    disturb();
    expect(await read(two.manifest)).toEqual(TWO);
    expect(world.reports.length).toBeGreaterThan(0);
    expect(world.store.count("r2")).toBeGreaterThan(0);
  });

  it("is not replaced by a coding that the client does not accept", async () => {
    world.store.publish(two);
    await read(two.manifest);
    lose(["kv", "r2"], "two gz");
    expect(await read(two.manifest, { codings: ["gzip"] })).toBe("data_loss");
  });
});

describe("a blob that neither store can give", () => {
  it("is replaced by the version that the isolate holds, without a further read", async () => {
    await holdOne();
    lose(["kv", "r2"], "two");
    world.store.calls.length = 0;
    expect(await read(two.manifest)).toEqual(ONE);
    const calls = world.store.calls.length;
    expect(await read(two.manifest)).toEqual(ONE);
    expect(world.store.calls).toHaveLength(calls);
  });

  it("is replaced by a coding that the isolate holds", async () => {
    world.store.publish(two);
    await read(two.manifest);
    lose(["kv", "r2"], "two gz");
    expect(await read(two.manifest, { codings: ["gzip", "identity"] })).toEqual(TWO);
  });

  it("is replaced by a newer version, which an isolate that slept has not seen", async () => {
    world.store.publish(one);
    await world.reader.current();
    world.store.publish(two);
    lose(["kv", "r2"], "one");
    expect(await read(one.manifest)).toEqual(TWO);
  });

  it("is replaced by another coding", async () => {
    world.store.publish(two);
    flipBit(["kv", "r2"], "two gz");
    expect(await read(two.manifest, { codings: ["gzip", "identity"] })).toEqual(TWO);
  });

  it.each([
    ["kv", "r2"],
    ["r2", "kv"],
  ] as const)("is replaced by another coding from %s, when %s does not answer", async (_, down) => {
    world.store.publish(one);
    world.store.publish(two);
    lose(["kv", "r2"], "two gz");
    world.breakCalls(down);
    expect(await read(two.manifest, { codings: ["gzip", "identity"] })).toEqual(TWO);
  });

  it.each([
    ["lost", lose],
    ["changed", flipBit],
  ])("is replaced by the version before, when it is %s", async (_, disturb) => {
    world.store.publish(one);
    world.store.publish(two);
    disturb(["kv", "r2"], "two");
    expect(await read(two.manifest)).toEqual(ONE);
  });

  it("is replaced by the version before from R2, when KV does not answer", async () => {
    world.store.publish(one);
    world.store.publish(two);
    lose(["r2"], "two");
    world.breakCalls("kv");
    expect(await read(two.manifest)).toEqual(ONE);
  });

  it("is data loss where no copy of any version is right", async () => {
    world.store.publish(one);
    world.store.publish(two);
    for (const text of ["one", "two"]) flipBit(["kv", "r2"], text);
    expect(await read(two.manifest)).toBe("data_loss");
  });

  it("is unavailable where a store may still have it", async () => {
    world.store.publish(two);
    lose(["kv"], "two");
    world.breakCalls("r2");
    expect(await read(two.manifest)).toBe("unavailable");
    world.repair();
    world.time += 2_000;
    // One of its segments is the trial that shows that R2 answers again.
    expect(await read(two.manifest)).toBe("unavailable");
    world.time += 2_000;
    expect(await read(two.manifest)).toEqual(TWO);
  });

  it("is unavailable when both stores are down, and there again when they are", async () => {
    world.store.publish(one);
    world.breakCalls("kv", "r2");
    expect(await read(one.manifest)).toBe("unavailable");
    world.repair();
    world.time += 2_000;
    expect(await read(one.manifest)).toEqual(ONE);
  });
});

describe("a body that no store can give", () => {
  it("is not asked for again by each request, but is a while later", async () => {
    world.store.publish(one);
    flipBit(["kv", "r2"], "one");
    expect(await read(one.manifest)).toBe("data_loss");
    const calls = world.store.calls.length;
    for (let request = 0; request < 20; request++)
      expect(await read(one.manifest)).toBe("data_loss");
    expect(world.store.calls).toHaveLength(calls);
    world.store.publish(one);
    world.time += 2_000;
    expect(await read(one.manifest)).toEqual(ONE);
  });
});

describe("a read of exactly one version", () => {
  it("is answered from no other, in memory or in the stores", async () => {
    await holdOne();
    lose(["kv", "r2"], "two");
    lose(["kv", "r2"], "two gz");
    expect(await read(two.manifest)).toEqual(ONE);
    expect(await read(two.manifest, { isExact: true })).toBe("data_loss");
  });

  it("is answered from no newer one", async () => {
    world.store.publish(one);
    await world.reader.current();
    world.store.publish(two);
    lose(["kv", "r2"], "one");
    lose(["kv", "r2"], "one gz");
    expect(await read(one.manifest, { isExact: true })).toBe("data_loss");
    expect(await read(one.manifest)).toEqual(TWO);
  });
});
