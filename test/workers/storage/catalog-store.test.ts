import { env } from "cloudflare:workers";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { sha256Hex } from "../../../src/catalog/bytes.ts";
import { type CatalogStore, createCatalogStore } from "../../../src/storage/catalog-store.ts";
import { blobKey, generationKey, MANIFEST_KEY } from "../../../src/storage/keys.ts";
import { aLocaleEntry, aManifest } from "../../builders/manifest.ts";
import { A_CLAIM } from "../../builders/memory-catalog-store.ts";

const bytes = new TextEncoder().encode("Zürich");
const sha256 = sha256Hex(bytes);

type KVOptions = KVNamespaceGetOptions<"arrayBuffer">;

let store: CatalogStore;

beforeEach(() => {
  store = createCatalogStore(env.CATALOG, env.ARCHIVE, A_CLAIM);
  return () => void vi.restoreAllMocks();
});

describe("a blob", () => {
  it.each(["kv", "r2"] as const)("comes from %s as it was written", async (replica) => {
    await store.writeBlob(sha256, bytes);
    expect(await store.readBlob(replica, sha256)).toEqual({ ok: true, value: bytes });
  });

  it("comes from KV itself for a check of the copies, and from its edge cache for serving", async () => {
    await store.writeBlob(sha256, bytes);
    const get = vi.spyOn(env.CATALOG, "get");
    expect(await store.checkBlob("kv", sha256)).toEqual({ ok: true, value: sha256 });
    await store.readBlob("kv", sha256);
    expect(get.mock.calls.map(([, options]) => options)).toMatchObject([
      { cacheTtl: 30 },
      { cacheTtl: 86_400 },
    ]);
  });

  it("costs a second read without the edge cache if KV misses it, because KV remembers a miss for a day", async () => {
    const ttls: unknown[] = [];
    vi.spyOn(env.CATALOG, "get").mockImplementation((async (_: string, options: KVOptions) => {
      ttls.push(options.cacheTtl);
      return options.cacheTtl === 30 ? bytes.slice().buffer : null;
    }) as unknown as typeof env.CATALOG.get); // the one of its forms that is called
    expect(await store.readBlob("kv", sha256)).toEqual({ ok: true, value: bytes });
    expect(ttls).toEqual([86_400, 30]);
  });

  it("is refused by R2 under another hash, and then is not written to KV", async () => {
    const other = sha256Hex("other");
    await expect(store.writeBlob(other, bytes)).rejects.toThrow();
    expect(await env.ARCHIVE.head(blobKey(other))).toBeNull();
    expect(await env.CATALOG.get(blobKey(other))).toBeNull();
  });

  it.each(["kv", "r2"] as const)("counts as corrupt if %s holds other bytes", async (replica) => {
    const name = sha256Hex(`corrupt ${replica}`);
    const wrong = new TextEncoder().encode(`corrupt ${replica.toUpperCase()}`);
    if (replica === "kv") await env.CATALOG.put(blobKey(name), wrong);
    else await env.ARCHIVE.put(blobKey(name), wrong);
    const corrupt = { ok: false, fault: "corrupt" };
    expect(await store.readBlob(replica, name)).toMatchObject(corrupt);
    expect(await store.checkBlob(replica, name)).toMatchObject(corrupt);
  });

  it.each(["kv", "r2"] as const)("counts as missing if %s has none", async (replica) => {
    const name = sha256Hex(`missing ${replica}`);
    const missing = { ok: false, fault: "missing", detail: blobKey(name) };
    expect(await store.readBlob(replica, name)).toEqual(missing);
    expect(await store.checkBlob(replica, name)).toEqual(missing);
  });

  it("counts as unreadable when a store throws, and the fault has the cause", async () => {
    vi.spyOn(env.CATALOG, "get").mockRejectedValue(new Error("KV GET failed: 503"));
    vi.spyOn(env.ARCHIVE, "get").mockRejectedValue(new Error("internal error (10001)"));
    for (const [replica, why] of [
      ["kv", "503"],
      ["r2", "10001"],
    ] as const)
      expect(await store.readBlob(replica, sha256)).toMatchObject({
        ok: false,
        fault: "unreadable",
        detail: expect.stringContaining(why),
      });
  });

  it("counts as unreadable when the store never answers", async () => {
    vi.spyOn(env.CATALOG, "get").mockReturnValue(new Promise(() => {}));
    expect(await store.readBlob("kv", sha256)).toMatchObject({
      ok: false,
      fault: "unreadable",
      detail: expect.stringContaining("no answer in 3000 ms"),
    });
  });

  it("counts as unreadable if its bytes are cut off in transit", async () => {
    const body = { arrayBuffer: async () => Promise.reject(new Error("connection lost")) };
    vi.spyOn(env.ARCHIVE, "get").mockResolvedValue(body as unknown as R2ObjectBody); // a part of it
    expect(await store.readBlob("r2", sha256)).toMatchObject({ ok: false, fault: "unreadable" });
  });
});

describe("the manifest", () => {
  it("comes from both replicas as it was written", async () => {
    const manifest = aManifest({ generation: 7, previous: 6 });
    await store.writeManifest(manifest);
    for (const replica of ["kv", "r2"] as const)
      expect(await store.readManifest(replica)).toEqual({ ok: true, value: manifest });
  });

  it("costs one parse while its text stays the same, from whichever replica", async () => {
    const objectOf = async (replica: "kv" | "r2") => {
      const copy = await store.readManifest(replica);
      return copy.ok ? copy.value : undefined;
    };
    await store.writeManifest(aManifest());
    const first = await objectOf("kv");
    expect(await objectOf("kv")).toBe(first);
    expect(await objectOf("r2")).toBe(first);
    await store.writeManifest(aManifest({ generation: 2 }));
    expect(await objectOf("kv")).toEqual(aManifest({ generation: 2 }));
  });

  it("goes to R2 first, so that KV is never ahead of its fallback", async () => {
    vi.spyOn(env.ARCHIVE, "put").mockRejectedValue(new Error("down"));
    const put = vi.spyOn(env.CATALOG, "put");
    await expect(store.writeManifest(aManifest())).rejects.toThrow("down");
    expect(put).not.toHaveBeenCalled();
  });

  it("stays in KV's edge cache for the shortest time that KV allows", async () => {
    const get = vi.spyOn(env.CATALOG, "get");
    await store.readManifest("kv");
    expect(get.mock.calls).toEqual([[MANIFEST_KEY, { type: "arrayBuffer", cacheTtl: 30 }]]);
  });

  it("counts as corrupt if it lacks a locale that it was written with", async () => {
    const locales = { de: aLocaleEntry(), en: aLocaleEntry() };
    await store.writeManifest(aManifest({ locales }));
    const written = (await env.CATALOG.get(MANIFEST_KEY)) ?? "";
    const without = written.replace(`"de":${JSON.stringify(locales.de)},`, "");
    expect(without).not.toBe(written);
    await env.CATALOG.put(MANIFEST_KEY, without);
    await env.ARCHIVE.put(MANIFEST_KEY, without);
    for (const replica of ["kv", "r2"] as const)
      expect(await store.readManifest(replica)).toMatchObject({ ok: false, fault: "corrupt" });
  });

  it.each(["", "{", '{"format":2}'])("counts as corrupt if its text is “%s”", async (text) => {
    await env.CATALOG.put(MANIFEST_KEY, text);
    await env.ARCHIVE.put(MANIFEST_KEY, text);
    for (const replica of ["kv", "r2"] as const)
      expect(await store.readManifest(replica)).toMatchObject({ ok: false, fault: "corrupt" });
  });
});

describe("the manifest of a generation", () => {
  it("is in R2 under a separate key", async () => {
    const [three, four] = [3, 4].map((generation) => aManifest({ generation }));
    if (three === undefined || four === undefined) throw new Error("two were built");
    await store.deleteGenerations(await store.listGenerations());
    await store.writeGeneration(three);
    await store.writeGeneration(four);
    expect(await store.readGeneration(3)).toEqual({ ok: true, value: three });
    expect(await store.readGeneration(4)).toEqual({ ok: true, value: four });
    expect(await store.readGeneration(5)).toEqual({
      ok: false,
      fault: "missing",
      detail: generationKey(5),
    });
    expect((await store.listGenerations()).toSorted((a, b) => a - b)).toEqual([3, 4]);
    await store.deleteGenerations([3]);
    expect(await store.listGenerations()).toEqual([4]);
    await store.deleteGenerations([]);
    expect(await store.readGeneration(4)).toMatchObject({ ok: true });
  });

  it("has its name in the fault if it is damaged", async () => {
    await env.ARCHIVE.put("catalog/manifests/7", "{");
    expect(await store.readGeneration(7)).toMatchObject({
      fault: "corrupt",
      detail: expect.stringMatching(/^catalog\/manifests\/7: /),
    });
  });
});
