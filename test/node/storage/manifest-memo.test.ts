import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { Manifest } from "../../../src/catalog/manifest.ts";
import { HedgedReads } from "../../../src/storage/hedged-reads.ts";
import { generationKey, MANIFEST_KEY } from "../../../src/storage/keys.ts";
import { ManifestMemo } from "../../../src/storage/manifest-memo.ts";
import { aVersion } from "../../builders/manifest.ts";
import { ReaderWorld } from "../../builders/reader-world.ts";

const one = aVersion(1, "one");
const two = aVersion(2, "two");
const FRESH_MS = 30_000;
const STALE_MS = 30_000;

let world: ReaderWorld;
let memo: ManifestMemo;

beforeEach(() => {
  world = new ReaderWorld();
  memo = new ManifestMemo(world.deps, new HedgedReads(world.deps));
});

/** The generation that is answered with, or why there is none. */
async function current(): Promise<number | string> {
  const answer = memo.held() ?? (await memo.current());
  return answer.ok ? answer.manifest.generation : answer.reason;
}

/** The generation that is answered with after a look behind the answers. */
async function currentAfterLook(): Promise<number | string> {
  world.time += FRESH_MS;
  await current();
  await world.settle();
  return current();
}

function corrupt(replica: "kv" | "r2", text: string): void {
  world.store[replica].set(MANIFEST_KEY, Uint8Array.from(Buffer.from(text)));
}

describe("a manifest that is held", () => {
  beforeEach(async () => {
    world.store.publish(one);
    await current();
    world.store.calls.length = 0;
  });

  it("is answered without a store while it is fresh", async () => {
    world.time += FRESH_MS - 1;
    expect(await current()).toBe(1);
    expect(world.store.calls).toEqual([]);
  });

  it("is answered at once also when it is a little stale, while a newer one is looked for behind", async () => {
    world.store.publish(two);
    world.store.before = () => new Promise(() => {});
    world.time += FRESH_MS + STALE_MS - 1;
    expect(await current()).toBe(1);
    expect(await current()).toBe(1);
    expect(world.store.calls).toEqual([`kv get ${MANIFEST_KEY}`]);
  });

  it("is not answered after a minute without a look: the newer one is waited for", async () => {
    world.store.publish(two);
    world.time += FRESH_MS + STALE_MS;
    expect(await Promise.all([current(), current()])).toEqual([2, 2]);
    expect(world.store.calls).toEqual([`kv get ${MANIFEST_KEY}`]);
  });

  it("is answered after any time where no store has a newer one", async () => {
    world.time += 36 * 3_600_000;
    world.breakCalls("kv", "r2");
    expect(await current()).toBe(1);
  });

  it("gives way to a newer one, and becomes the previous one", async () => {
    world.store.publish(two);
    expect(await currentAfterLook()).toBe(2);
    expect(memo.previous).toEqual(one.manifest);
    expect(world.reports).toEqual([]);
  });

  it("is kept when neither store answers, and they are left alone for a while", async () => {
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

  it("is kept when a store holds something else", async () => {
    corrupt("kv", "<html>");
    expect(await currentAfterLook()).toBe(1);
    expect(world.reports).toEqual(["manifest_corrupt"]);
  });

  it("is kept when both stores have lost theirs", async () => {
    world.store.kv.clear();
    world.store.r2.clear();
    expect(await currentAfterLook()).toBe(1);
  });

  it("is looked for once, however many ask meanwhile", async () => {
    world.time += FRESH_MS;
    await Promise.all(Array.from({ length: 50 }, current));
    await world.settle();
    expect(world.store.calls).toEqual([`kv get ${MANIFEST_KEY}`]);
  });
});

describe("the generation", () => {
  it("never goes back, whichever store answers with an older manifest", async () => {
    world.store.publish(two);
    await current();
    world.store.publish(one);
    expect(await currentAfterLook()).toBe(2);
    world.breakCalls("kv");
    expect(await currentAfterLook()).toBe(2);
    expect(memo.previous).toBeUndefined();
  });
});

describe("with nothing held", () => {
  it("says that nothing is published only if both stores say so", async () => {
    expect(await current()).toBe("nothing_published");
  });

  it.each([
    ["both are down", () => world.breakCalls("kv", "r2")],
    ["KV has none and R2 is down", () => world.breakCalls("r2")],
    ["KV has none and R2 has a broken one", () => corrupt("r2", "{")],
  ])("is unavailable when %s", async (_, disturb) => {
    disturb();
    expect(await current()).toBe("unavailable");
  });

  it("the stores are left alone for a second, and then asked again", async () => {
    expect(await current()).toBe("nothing_published");
    world.store.publish(one);
    world.time += 999;
    expect(await current()).toBe("nothing_published");
    world.time += 1;
    expect(await current()).toBe(1);
  });
});

describe("while a store is silent", () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] }));
  afterEach(() => void vi.useRealTimers());

  it("an isolate that slept answers what it has after a second without both", async () => {
    const ended = vi.fn<(answer: number | string) => void>();
    world.store.publish(one);
    await current();
    world.store.publish(two);
    world.time += 36 * 3_600_000;
    world.store.before = () => new Promise(() => {});
    void current().then(ended);
    await vi.advanceTimersByTimeAsync(999);
    expect(ended).not.toHaveBeenCalled();
    await vi.advanceTimersByTimeAsync(1);
    expect(ended).toHaveBeenCalledExactlyOnceWith(1);
  });

  it("a look that never ended is not waited for again", async () => {
    world.store.publish(one);
    await current();
    world.store.before = () => new Promise(() => {});
    world.time += FRESH_MS;
    expect(await current()).toBe(1);
    world.repair();
    world.store.publish(two);
    world.time += 4_000;
    expect(await current()).toBe(1);
    await vi.advanceTimersByTimeAsync(0);
    expect(await current()).toBe(2);
  });
});

describe("the newest manifest", () => {
  it("comes from R2, for KV may lag, and not twice in a second", async () => {
    world.store.publish(one);
    await current();
    world.store.publish(two);
    world.store.calls.length = 0;
    expect(await memo.newest()).toMatchObject({ manifest: { generation: 2 } });
    expect(await memo.newest()).toMatchObject({ manifest: { generation: 2 } });
    expect(world.store.calls).toEqual([`r2 get ${MANIFEST_KEY}`]);
  });
});

describe("an older manifest", () => {
  const isOf = (text: string) => {
    const wanted = aVersion(1, text).manifest.locales["en"]?.sha256;
    return ({ locales }: Manifest) => locales["en"]?.sha256 === wanted;
  };

  it("is found among all that R2 has, however many, and though those between are gone", async () => {
    for (let generation = 1; generation <= 12; generation++)
      world.store.publish(aVersion(generation, `text ${generation}`));
    world.store.r2.delete(generationKey(6));
    await current();
    expect(await memo.findOlder(isOf("text 1"))).toMatchObject({ value: { generation: 1 } });
    world.store.calls.length = 0;
    expect(await memo.findOlder(isOf("text 5"))).toMatchObject({ value: { generation: 5 } });
    expect(world.store.calls).toEqual([]);
    expect(await memo.findOlder(isOf("text 6"))).toMatchObject({ fault: "missing" });
    expect(world.store.calls).toEqual([]);
  });

  it("may still be there while R2 cannot list, or cannot read one of them", async () => {
    world.store.publish(one);
    world.store.publish(two);
    await current();
    world.breakCalls("r2 list");
    expect(await memo.findOlder(isOf("three"))).toMatchObject({ fault: "unreadable" });
    world.breakCalls("r2 get catalog/manifests/");
    world.time += 1_000;
    expect(await memo.findOlder(isOf("three"))).toMatchObject({ fault: "unreadable" });
  });
});

describe("what several requests ask for at once", () => {
  it("is one look for the newest manifest, which all of them await", async () => {
    world.store.publish(one);
    await current();
    world.store.publish(two);
    const found = await Promise.all([memo.newest(), memo.newest(), memo.newest()]);
    for (const each of found) expect(each).toMatchObject({ manifest: { generation: 2 } });
  });

  it("is one read of an earlier version, and none again soon where that has failed", async () => {
    world.store.publish(two);
    await current();
    world.store.calls.length = 0;
    const first = await Promise.all([
      memo.loadPrevious(two.manifest),
      memo.loadPrevious(two.manifest),
    ]);
    expect(first.map((copy) => copy.ok)).toEqual([false, false]);
    await memo.loadPrevious(two.manifest);
    expect(world.store.calls).toHaveLength(1);
    expect(await memo.loadPrevious(one.manifest)).toMatchObject({ fault: "missing" });
  });
});
