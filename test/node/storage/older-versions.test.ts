import { beforeEach, describe, expect, it } from "vitest";
import { type Manifest, messageSha256 } from "../../../src/parts/manifest.ts";
import { generationKey } from "../../../src/storage/keys.ts";
import { aVersion } from "../../builders/manifest.ts";
import { ReaderWorld } from "../../builders/reader-world.ts";

let world: ReaderWorld;

beforeEach(() => {
  world = new ReaderWorld();
});

/** Finds the version whose body says `text`. */
function find(text: string) {
  const hashOf = ({ locales: { en } }: Manifest) => en && messageSha256(en);
  const wanted = hashOf(aVersion(1, text).manifest);
  return world.reader.findOlder((manifest) => hashOf(manifest) === wanted);
}

describe("an older version", () => {
  it("turns up among all that R2 lists, with one read", async () => {
    for (let generation = 1; generation <= 12; generation++)
      world.store.publish(aVersion(generation, `text ${generation}`));
    world.store.r2.delete(generationKey(6));
    await world.reader.current();
    expect(await find("text 1")).toMatchObject({ value: { generation: 1 } });
    expect(world.store.count(`r2 get ${generationKey(12)}`)).toBe(0);
    world.store.calls.length = 0;
    expect(await find("text 5")).toMatchObject({ value: { generation: 5 } });
    expect(await find("text 6")).toMatchObject({ fault: "missing" });
    expect(world.store.calls).toEqual([]);
  });

  it("turns up in memory after this isolate has served it", async () => {
    world.store.publish(aVersion(1, "one"));
    await world.reader.current();
    world.store.publish(aVersion(2, "two"));
    await world.reader.newest();
    world.store.calls.length = 0;
    expect(await find("one")).toMatchObject({ value: { generation: 1 } });
    expect(world.store.calls).toEqual([]);
  });

  it("counts as unreadable, not as missing, while R2 cannot list or read one of them", async () => {
    world.store.publish(aVersion(1, "one"));
    world.store.publish(aVersion(2, "two"));
    await world.reader.current();
    world.breakCalls("r2 list");
    expect(await find("three")).toMatchObject({ fault: "unreadable" });
    world.breakCalls("r2 get catalog/manifests/");
    world.time += 1_000;
    expect(await find("three")).toMatchObject({ fault: "unreadable" });
  });

  it("costs one look-up for simultaneous requests, and none soon after if it is damaged", async () => {
    world.store.publish(aVersion(1, "one"));
    world.store.publish(aVersion(2, "two"));
    world.store.r2.set(generationKey(1), Uint8Array.of(1));
    await world.reader.current();
    world.store.calls.length = 0;
    await Promise.all([find("one"), find("one")]);
    world.time += 1_999;
    expect(await find("one")).toMatchObject({ fault: "corrupt" });
    const reads = world.store.calls.filter((call) => call === `r2 get ${generationKey(1)}`);
    expect(reads).toHaveLength(1);
  });

  it("counts as listed until its manifest is gone from R2, or while R2 cannot say", async () => {
    world.store.publish(aVersion(1, "one"));
    world.store.publish(aVersion(2, "two"));
    await world.reader.current();
    expect(await world.reader.isListed(1)).toBe(true);
    world.store.r2.delete(generationKey(1));
    world.time += 1_000;
    expect(await world.reader.isListed(1)).toBe(false);
    world.breakCalls("r2 list");
    world.time += 1_000;
    expect(await world.reader.isListed(1)).toBe(true);
  });
});
