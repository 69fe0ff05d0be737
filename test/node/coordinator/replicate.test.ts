import { beforeEach, describe, expect, it } from "vitest";
import { repairCopies, replicate } from "../../../src/coordinator/publishing.ts";
import { generationKey, MANIFEST_KEY } from "../../../src/storage/keys.ts";
import { aVersion } from "../../builders/manifest.ts";
import {
  type MemoryCatalogStore,
  memoryCatalogStore,
} from "../../builders/memory-catalog-store.ts";

let store: MemoryCatalogStore;
const { manifest } = aVersion(2, "new");

beforeEach(() => {
  store = memoryCatalogStore();
  store.publish(aVersion(1, "old"));
});

describe("replicate", () => {
  it("asks R2 for the owner, keeps what it shows, writes R2, the copy of the generation and then KV, and reads all three", async () => {
    await replicate(store, manifest);
    expect(store.calls).toEqual([
      `r2 head ${MANIFEST_KEY}`,
      `r2 get ${MANIFEST_KEY}`,
      `r2 put ${generationKey(1)}`,
      `r2 put ${MANIFEST_KEY}`,
      `r2 put ${generationKey(2)}`,
      `kv put ${MANIFEST_KEY}`,
      `r2 get ${generationKey(2)}`,
      `r2 get ${MANIFEST_KEY}`,
      `kv get ${MANIFEST_KEY}`,
    ]);
    for (const replica of ["kv", "r2"] as const)
      expect(await store.readManifest(replica)).toEqual({ ok: true, value: manifest });
  });

  it("first stores the version before under its generation, if that has failed", async () => {
    store.before = (call) => {
      if (call === `r2 put ${generationKey(2)}`) throw new Error("down");
    };
    await expect(replicate(store, manifest)).rejects.toThrow("down");
    expect(store.r2.has(generationKey(2))).toBe(false);
    store.before = () => {};
    await replicate(store, aVersion(3, "newer").manifest);
    expect(await store.readGeneration(2)).toEqual({ ok: true, value: manifest });
  });

  it("writes nothing while it cannot read the version before", async () => {
    let refusals = 1;
    store.before = (call) => {
      if (call === `r2 get ${MANIFEST_KEY}` && refusals-- > 0) throw new Error("down");
    };
    await expect(replicate(store, manifest)).rejects.toThrow("down");
    expect(store.count("r2 put")).toBe(0);
  });

  it("leaves the version of a generation as it is, whatever R2 shows under that number", async () => {
    const restored = aVersion(1, "restored").manifest;
    await store.writeGeneration(restored);
    await replicate(store, manifest);
    expect(await store.readGeneration(1)).toEqual({ ok: true, value: restored });
  });

  it("gives the same result when it is repeated", async () => {
    await replicate(store, manifest);
    await replicate(store, manifest);
    expect(await store.readManifest("kv")).toEqual({ ok: true, value: manifest });
  });

  it("throws at whichever call a store refuses, and succeeds when it is repeated", async () => {
    const undisturbed = memoryCatalogStore();
    await replicate(undisturbed, manifest);
    for (const refused of undisturbed.calls.filter((call) => !call.startsWith("kv get"))) {
      store.before = (call) => {
        if (call === refused) throw new Error("down");
      };
      await expect(replicate(store, manifest), refused).rejects.toThrow("down");
      store.before = () => {};
      await replicate(store, manifest);
    }
  });

  /** Lets a replica answer with another version than the one that it has just taken. */
  const answerWith = (replica: "kv" | "r2", generation: number) => {
    const other = memoryCatalogStore();
    other.publish(aVersion(generation, "other"));
    const bytes = other[replica].get(MANIFEST_KEY) ?? new Uint8Array();
    store.before = (call) => {
      const isWritten = store.count(`kv put ${MANIFEST_KEY}`) > 0;
      if (isWritten && call === `${replica} get ${MANIFEST_KEY}`)
        store[replica].set(MANIFEST_KEY, bytes);
    };
  };

  it.each([1, 3])("throws if R2, which never lags, shows generation %i instead", async (shown) => {
    answerWith("r2", shown);
    await expect(replicate(store, manifest)).rejects.toThrow(
      `R2 shows generation ${shown} instead of 2`,
    );
  });

  it("accepts an older version in KV as the content of its edge cache", async () => {
    answerWith("kv", 1);
    await expect(replicate(store, manifest)).resolves.toBeUndefined();
  });

  it("throws if KV shows a later version", async () => {
    answerWith("kv", 3);
    await expect(replicate(store, manifest)).rejects.toThrow("KV shows generation 3 instead of 2");
  });
});

describe("repairCopies", () => {
  it("writes nothing if both stores show the version", async () => {
    await replicate(store, manifest);
    const writes = store.count("kv put") + store.count("r2 put");
    await repairCopies(store, manifest);
    expect(store.count("kv put") + store.count("r2 put")).toBe(writes);
  });

  it.each(["kv", "r2"] as const)("restores what %s has lost or damaged", async (replica) => {
    await replicate(store, manifest);
    for (const damage of [undefined, Uint8Array.of(1, 2, 3)]) {
      if (damage === undefined) store[replica].delete(MANIFEST_KEY);
      else store[replica].set(MANIFEST_KEY, damage);
      await repairCopies(store, manifest);
      expect(await store.readManifest(replica)).toEqual({ ok: true, value: manifest });
    }
  });
});
