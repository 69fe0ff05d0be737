import { beforeEach, describe, expect, it } from "vitest";
import { replicate } from "../../../src/ingest/publisher.ts";
import { generationKey, MANIFEST_KEY } from "../../../src/storage/keys.ts";
import { aVersion } from "../../builders/manifest.ts";
import { MemoryCatalogStore } from "../../builders/memory-catalog-store.ts";

let store: MemoryCatalogStore;
const { manifest } = aVersion(2, "new");

beforeEach(() => {
  store = new MemoryCatalogStore();
  store.publish(aVersion(1, "old"));
});

describe("replicate", () => {
  it("writes the generation's own copy first, then R2 and then KV, and reads all three back", async () => {
    await replicate(store, manifest);
    expect(store.calls).toEqual([
      `r2 put ${generationKey(2)}`,
      `r2 put ${MANIFEST_KEY}`,
      `kv put ${MANIFEST_KEY}`,
      `r2 get ${generationKey(2)}`,
      `r2 get ${MANIFEST_KEY}`,
      `kv get ${MANIFEST_KEY}`,
    ]);
    for (const replica of ["kv", "r2"] as const)
      expect(await store.readManifest(replica)).toEqual({ ok: true, value: manifest });
  });

  it("may be repeated", async () => {
    await replicate(store, manifest);
    await replicate(store, manifest);
    expect(await store.readManifest("kv")).toEqual({ ok: true, value: manifest });
  });

  it("throws at whichever call a store refuses, and succeeds when repeated", async () => {
    const undisturbed = new MemoryCatalogStore();
    await replicate(undisturbed, manifest);
    for (const refused of undisturbed.calls) {
      store.before = (call) => {
        if (call === refused) throw new Error("down");
      };
      await expect(replicate(store, manifest), refused).rejects.toThrow("down");
      store.before = () => {};
      await replicate(store, manifest);
    }
  });

  it.each([`kv get ${MANIFEST_KEY}`, `r2 get ${MANIFEST_KEY}`])(
    "throws while “%s” still answers with another version",
    async (lagging) => {
      store.before = (call) => {
        if (call === lagging) store.publish(aVersion(1, "old"));
      };
      await expect(replicate(store, manifest)).rejects.toThrow("a store still shows generation 1");
    },
  );
});
