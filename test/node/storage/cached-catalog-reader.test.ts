import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { sha256Hex } from "../../../src/catalog/bytes.ts";
import { composeBody } from "../../../src/parts/compose.ts";
import type { Coding, Manifest } from "../../../src/parts/manifest.ts";
import { blobKey, MANIFEST_KEY } from "../../../src/storage/keys.ts";
import { aVersion, partsOf } from "../../builders/manifest.ts";
import { ReaderWorld } from "../../builders/reader-world.ts";

const one = aVersion(1, "one");
const two = aVersion(2, "two");
const FRESH_MS = 30_000;
const STALE_MS = 30_000;
const READ_MANIFEST = `kv get ${MANIFEST_KEY}`;

type Place = "kv" | "r2";

let world: ReaderWorld;

beforeEach(() => {
  world = new ReaderWorld();
});

/** The generation of the current version, or why there is none. */
async function current(): Promise<number | string> {
  const answer = await world.reader.current();
  return answer.ok ? answer.manifest.generation : answer.reason;
}

/** The generation of the current version after a look-up in the background. */
async function currentAfterLook(): Promise<number | string> {
  world.time += FRESH_MS;
  await current();
  await world.settle();
  return current();
}

/** The text of a body of a version, or why it cannot be read. */
async function read(manifest: Manifest, coding: Coding = "identity"): Promise<string> {
  const body = composeBody(manifest, { locale: "en", representation: "proto", coding });
  if (body === undefined) throw new Error(`${coding} is not published`);
  const opened = await world.reader.open({ body, coding });
  if (!opened.ok) return opened.reason;
  const text = await new Response(opened.content.stream()).text();
  expect(sha256Hex(text)).toBe(body.sha256);
  return text;
}

const ONE = "<one shared|one en>";
const TWO = "<two shared|two en>";

function lose(where: readonly Place[], text: string, coding?: Coding): void {
  for (const replica of where)
    for (const sha256 of partsOf(text, coding)) world.store[replica].delete(blobKey(sha256));
}

function flipBit(where: readonly Place[], text: string, coding?: Coding): void {
  for (const replica of where) {
    const [, sha256] = partsOf(text, coding);
    const bytes = world.store[replica].get(blobKey(sha256));
    if (bytes === undefined) throw new Error(`${text} is not in ${replica}`);
    bytes[3] = (bytes[3] ?? 0) ^ 1;
  }
}

describe("a body", () => {
  it("consists of its parts, and is read once for all requests", async () => {
    world.store.publish(one);
    expect(await read(one.manifest)).toBe(ONE);
    const calls = world.store.calls.length;
    for (let request = 0; request < 3; request++) expect(await read(one.manifest)).toBe(ONE);
    expect(world.store.calls).toHaveLength(calls);
    expect(world.store.count("r2")).toBe(0);
  });

  it("reaches the client even if the cache has no room for it", async () => {
    world = new ReaderWorld({ cacheMaxBytes: 0 });
    world.store.publish(one);
    expect(await read(one.manifest)).toBe(ONE);
    expect(await read(one.manifest)).toBe(ONE);
    expect(world.store.calls).toHaveLength(4);
  });

  it.each([
    ["is missing", () => lose(["kv"], "two")],
    ["has one bit flipped", () => flipBit(["kv"], "two")],
    ["cannot be read", () => world.breakCalls("kv get catalog/blob/")],
  ])("comes from R2 when a part in KV %s", async (_, disturb) => {
    world.store.publish(two);
    disturb();
    expect(await read(two.manifest)).toBe(TWO);
    expect(world.reports.length).toBeGreaterThan(0);
    expect(world.store.count("r2")).toBeGreaterThan(0);
  });

  it.each([
    ["lost", lose],
    ["damaged", flipBit],
  ])(
    "counts as data loss when every copy is %s, and no other body replaces it",
    async (_, harm) => {
      world.store.publish(one);
      await read(one.manifest);
      world.store.publish(two);
      await read(two.manifest);
      harm(["kv", "r2"], "two", "gzip");
      expect(await read(two.manifest, "gzip")).toBe("data_loss");
    },
  );

  it("counts as unavailable if a store that does not answer may still have it", async () => {
    world.store.publish(two);
    lose(["kv"], "two");
    world.breakCalls("r2");
    expect(await read(two.manifest)).toBe("unavailable");
    world.repair();
    expect(await read(two.manifest)).toBe(TWO);
  });
});

function corrupt(replica: Place, text: string): void {
  world.store[replica].set(MANIFEST_KEY, Uint8Array.from(Buffer.from(text)));
}

describe("a manifest in memory", () => {
  beforeEach(async () => {
    world.store.publish(one);
    await current();
    world.store.calls.length = 0;
  });

  it("serves requests without a store while it is fresh", async () => {
    world.time += FRESH_MS - 1;
    expect(await current()).toBe(1);
    expect(world.store.calls).toEqual([]);
  });

  it("serves requests at once when it is slightly stale, while one look-up runs in the background", async () => {
    world.store.publish(two);
    world.store.before = () => new Promise(() => {});
    world.time += FRESH_MS + STALE_MS - 1;
    expect(await current()).toBe(1);
    expect(await current()).toBe(1);
    expect(world.store.calls).toEqual([READ_MANIFEST]);
  });

  it("serves nobody after a minute without a look-up: requests wait for the newer one", async () => {
    world.store.publish(two);
    world.time += FRESH_MS + STALE_MS;
    expect(await Promise.all([current(), current()])).toEqual([2, 2]);
    expect(world.store.calls).toEqual([READ_MANIFEST]);
  });

  it("gives way to a newer one in the background", async () => {
    world.store.publish(two);
    expect(await currentAfterLook()).toBe(2);
    expect(world.reports).toEqual([]);
  });

  it("serves requests however old it is while neither store answers", async () => {
    world.time += 36 * 3_600_000;
    world.breakCalls("kv", "r2");
    expect(await current()).toBe(1);
  });

  it("serves requests for five seconds without a read after neither store has answered", async () => {
    world.breakCalls("kv", "r2");
    expect(await currentAfterLook()).toBe(1);
    world.time += 4_999;
    expect(await current()).toBe(1);
    await world.settle();
    expect(world.store.calls).toHaveLength(2);
    expect(world.reports).toEqual(["manifest_unreadable", "manifest_unreadable"]);
    world.store.publish(two);
    world.repair();
    expect(await currentAfterLook()).toBe(2);
  });

  it("serves requests when a store holds something malformed", async () => {
    corrupt("kv", "<html>");
    expect(await currentAfterLook()).toBe(1);
    expect(world.reports).toEqual(["manifest_corrupt"]);
  });

  it("serves requests when both stores have lost theirs", async () => {
    world.store.kv.clear();
    world.store.r2.clear();
    expect(await currentAfterLook()).toBe(1);
  });

  it("costs one look-up for fifty simultaneous requests", async () => {
    world.time += FRESH_MS;
    await Promise.all(Array.from({ length: 50 }, current));
    await world.settle();
    expect(world.store.calls).toEqual([READ_MANIFEST]);
  });

  it("never gives way to one of a lower generation, whichever store has it", async () => {
    world.store.publish(two);
    expect(await currentAfterLook()).toBe(2);
    world.store.publish(one);
    expect(await currentAfterLook()).toBe(2);
    world.breakCalls("kv");
    expect(await currentAfterLook()).toBe(2);
  });
});

describe("an isolate with no manifest in memory", () => {
  it("reports that nothing is published only if both stores have no manifest", async () => {
    expect(await current()).toBe("nothing_published");
  });

  it.each([
    ["both stores are down", () => world.breakCalls("kv", "r2")],
    ["KV has none and R2 is down", () => world.breakCalls("r2")],
    ["KV has none and that of R2 is damaged", () => corrupt("r2", "{")],
  ])("answers unavailable when %s", async (_, disturb) => {
    disturb();
    expect(await current()).toBe("unavailable");
  });

  it("looks again two seconds after it has found nothing published", async () => {
    expect(await current()).toBe("nothing_published");
    world.store.publish(one);
    world.time += 1_999;
    expect(await current()).toBe("nothing_published");
    world.time += 1;
    expect(await current()).toBe(1);
  });
});

describe("an isolate while both stores hang", () => {
  beforeEach(async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    world.store.publish(one);
    await current();
    world.store.publish(two);
    world.store.before = () => new Promise(() => {});
  });
  afterEach(() => void vi.useRealTimers());

  it("serves its manifest after a second, though it was idle", async () => {
    const ended = vi.fn<(answer: number | string) => void>();
    world.time += 36 * 3_600_000;
    void current().then(ended);
    await vi.advanceTimersByTimeAsync(999);
    expect(ended).not.toHaveBeenCalled();
    await vi.advanceTimersByTimeAsync(1);
    expect(ended).toHaveBeenCalledExactlyOnceWith(1);
  });

  it("replaces a look-up that never ends after four seconds", async () => {
    world.time += FRESH_MS;
    expect(await current()).toBe(1);
    world.repair();
    world.time += 4_000;
    expect(await current()).toBe(1);
    await vi.waitFor(async () => expect(await current()).toBe(2));
  });
});

describe("the newest manifest", () => {
  beforeEach(async () => {
    world.store.publish(one);
    await current();
    world.store.publish(two);
    world.store.calls.length = 0;
  });

  it("comes from R2, because KV may lag, and costs one read in a second", async () => {
    expect(await world.reader.newest()).toMatchObject({ manifest: { generation: 2 } });
    expect(await world.reader.newest()).toMatchObject({ manifest: { generation: 2 } });
    expect(world.store.calls).toEqual([`r2 get ${MANIFEST_KEY}`]);
  });

  it("costs one read for all requests that need it at the same time", async () => {
    const { reader } = world;
    const found = await Promise.all([reader.newest(), reader.newest(), reader.newest()]);
    for (const newest of found) expect(newest).toMatchObject({ manifest: { generation: 2 } });
    expect(world.store.calls).toHaveLength(1);
  });
});
