import { beforeEach, describe, expect, it } from "vitest";
import { checkCopies, type CheckRequest } from "../../../src/monitor/facts.ts";
import type { Manifest } from "../../../src/parts/manifest.ts";
import { blobKey } from "../../../src/storage/keys.ts";
import { aBody, aLocaleEntry, aManifest, blobsOf, inEveryForm } from "../../builders/manifest.ts";
import {
  type MemoryCatalogStore,
  memoryCatalogStore,
} from "../../builders/memory-catalog-store.ts";

const LOCALES = ["de", "en", "ja"];

function anEntry(text: string) {
  const bodies = { identity: aBody(text) };
  return aLocaleEntry({
    bodies: inEveryForm(bodies),
  });
}

const manifest: Manifest = aManifest({
  locales: Object.fromEntries(LOCALES.map((locale) => [locale, anEntry(locale)])),
});
const [germanBlob = ""] = blobsOf("de").map(([name]) => name);

let store: MemoryCatalogStore;

beforeEach(() => {
  store = memoryCatalogStore();
  store.publish({ manifest, blobs: LOCALES.flatMap(blobsOf) });
  store.calls.length = 0;
});

const check = (request: Partial<CheckRequest> = {}) =>
  checkCopies(manifest, { isLocaleDue: true, after: null, suspects: [], ...request }, store);

describe("checkCopies", () => {
  it("reads the blobs of one locale from both stores, each once", async () => {
    expect(await check()).toEqual({
      locale: "de",
      checked: 4,
      damaged: [],
      lost: [],
      unreadable: [],
    });
    const blobs = blobsOf("de").map(([sha256]) => sha256);
    expect(store.calls.filter((call) => / get /.test(call)).toSorted()).toEqual(
      ["kv", "r2"]
        .flatMap((replica) => blobs.map((sha256) => `${replica} get ${blobKey(sha256)}`))
        .toSorted(),
    );
  });

  it("reads the blobs of another locale that R2 does not list", async () => {
    const [lost = ""] = blobsOf("ja").map(([sha256]) => sha256);
    store.kv.delete(blobKey(lost));
    store.r2.delete(blobKey(lost));
    expect(await check()).toMatchObject({
      locale: "de",
      damaged: [
        { replica: "kv", sha256: lost, fault: "missing" },
        { replica: "r2", sha256: lost, fault: "missing" },
      ],
      lost: [lost],
    });
  });

  it("reads the diffs of the locale as well", async () => {
    const [[common] = [""], [german] = [""]] = blobsOf("diff");
    const [[blob] = [""]] = blobsOf("deltas");
    const local = { de: german };
    const diff = { ...manifest, generation: 0, common, local, deltas: { blob, locales: {} } };
    const changed = { ...manifest, diffs: [diff] };
    store.publish({ manifest: changed, blobs: [...blobsOf("diff"), ...blobsOf("deltas")] });
    const request = { isLocaleDue: true, after: null, suspects: [] };
    expect(await checkCopies(changed, request, store)).toMatchObject({ checked: 10, damaged: [] });
  });

  it("reads the locale's own part as well", async () => {
    const [[blob] = [""]] = blobsOf("own");
    const entry = { ...anEntry("de"), own: { json: { blob, bytes: 13 } } };
    const changed = { ...manifest, locales: { ...manifest.locales, de: entry } };
    store.publish({ manifest: changed, blobs: blobsOf("own") });
    store.r2.delete(blobKey(blob));
    const request = { isLocaleDue: true, after: null, suspects: [] };
    expect(await checkCopies(changed, request, store)).toMatchObject({
      checked: 5,
      damaged: [{ replica: "r2", sha256: blob, fault: "missing" }],
    });
    store.kv.delete(blobKey(blob));
    // Clients get the whole body without it.
    const seen = await checkCopies(changed, request, store);
    expect([seen.damaged.length, seen.lost]).toEqual([2, []]);
  });

  it.each([
    [null, "de"],
    ["de", "en"],
    ["en", "ja"],
    ["ja", "de"],
    ["fr", "ja"],
    ["zh", "de"],
  ])("checks the locales in turn: after %s comes %s", async (after, locale) => {
    expect((await check({ after })).locale).toBe(locale);
  });

  it("names each copy that is missing or has other bytes", async () => {
    store.kv.delete(blobKey(germanBlob));
    store.r2.set(blobKey(germanBlob), Uint8Array.of(1));
    expect(await check()).toEqual({
      locale: "de",
      checked: 2,
      damaged: [
        { replica: "kv", sha256: germanBlob, fault: "missing" },
        { replica: "r2", sha256: germanBlob, fault: "corrupt" },
      ],
      lost: [germanBlob],
      unreadable: [],
    });
  });

  it("reads suspects again when another locale is due, as long as they are published", async () => {
    store.kv.delete(blobKey(germanBlob));
    const seen = await check({ after: "de", suspects: [germanBlob, "gone"] });
    expect(seen).toMatchObject({
      locale: "en",
      damaged: [{ replica: "kv", sha256: germanBlob, fault: "missing" }],
    });
    expect(store.calls.join(" ")).not.toContain("gone");
  });

  it("reports a copy as unreadable, not as damaged, if the store does not answer", async () => {
    store.before = (call) => {
      if (call.startsWith("r2")) throw new Error("R2 is down");
    };
    const seen = await check();
    expect(seen).toMatchObject({ checked: 2, damaged: [] });
    expect(seen.unreadable).toHaveLength(2);
    expect(seen.unreadable[0]).toContain("R2 is down");
  });

  it("reads one body and the suspects while no locale is due, and so finds an empty store", async () => {
    const [suspect = ""] = blobsOf("ja").map(([sha256]) => sha256);
    const request = { isLocaleDue: false, suspects: [suspect] };
    expect(await check(request)).toMatchObject({ locale: null, checked: 6, damaged: [] });
    store.kv.clear();
    const lost = [suspect, ...blobsOf("de").map(([sha256]) => sha256)];
    expect(await check(request)).toMatchObject({
      checked: 3,
      damaged: lost.map((sha256) => ({ replica: "kv", sha256, fault: "missing" })),
    });
  });

  it("gives up a store after four copies without an answer", async () => {
    store.before = () => {
      throw new Error("down");
    };
    const suspects = [...blobsOf("en"), ...blobsOf("ja")].map(([sha256]) => sha256);
    expect((await check({ suspects })).unreadable).toHaveLength(4);
    expect(store.calls.filter((call) => / get /.test(call))).toHaveLength(4);
  });
});
