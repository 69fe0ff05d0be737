import { beforeEach, describe, expect, it } from "vitest";
import { checkCopies, type CheckRequest } from "../../../src/monitor/facts.ts";
import { sha256Hex } from "../../../src/catalog/bytes.ts";
import { blobKey } from "../../../src/storage/keys.ts";
import { aVersion } from "../../builders/manifest.ts";
import {
  type MemoryCatalogStore,
  memoryCatalogStore,
} from "../../builders/memory-catalog-store.ts";

const LOCALES = ["de", "en", "ja"];

const { manifest, blobs } = aVersion(1, "text", LOCALES);
const { proto, json } = manifest.shared;
/** The parts that all locales share. */
const SHARED = [proto.identity, proto.gzip, json.identity, json.gzip].map(({ sha256 }) => sha256);

/** The SHA-256 (hex) of the parts of a locale. */
const partsOf = (locale: string) =>
  Object.values(manifest.locales[locale]?.parts ?? {}).map(({ gzip }) => gzip.sha256);
const [germanBlob = ""] = partsOf("de");

let store: MemoryCatalogStore;

beforeEach(() => {
  store = memoryCatalogStore();
  store.publish({ manifest, blobs });
  store.calls.length = 0;
});

const check = (request: Partial<CheckRequest> = {}) =>
  checkCopies(manifest, { isLocaleDue: true, after: null, suspects: [], ...request }, store);

describe("checkCopies", () => {
  it("reads the blobs of one locale from both stores, each once", async () => {
    expect(await check()).toEqual({
      locale: "de",
      checked: 12,
      damaged: [],
      lost: [],
      unreadable: [],
    });
    const read = [...SHARED, ...partsOf("de")];
    expect(store.calls.filter((call) => / get /.test(call)).toSorted()).toEqual(
      ["kv", "r2"]
        .flatMap((replica) => read.map((sha256) => `${replica} get ${blobKey(sha256)}`))
        .toSorted(),
    );
  });

  it("reads the blobs of another locale that R2 does not list", async () => {
    const [lost = ""] = partsOf("ja");
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
    const parts = ["common", "de", "en"].map((text) => new TextEncoder().encode(text));
    const ofDiff = parts.map((part) => [sha256Hex(part), part] as const);
    const [common = "", de = "", en = ""] = ofDiff.map(([sha256]) => sha256);
    const changed = {
      ...manifest,
      diffs: [{ ...manifest, generation: 0, common, local: { de, en } }],
    };
    store.publish({ manifest: changed, blobs: ofDiff });
    const request = { isLocaleDue: true, after: null, suspects: [] };
    expect(await checkCopies(changed, request, store)).toMatchObject({ checked: 16, damaged: [] });
    store.r2.delete(blobKey(de));
    expect(await checkCopies(changed, request, store)).toMatchObject({
      checked: 15,
      damaged: [{ replica: "r2", sha256: de, fault: "missing" }],
    });
    store.kv.delete(blobKey(de));
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
      checked: 10,
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
    expect(seen).toMatchObject({ checked: 4, damaged: [] });
    expect(seen.unreadable).toHaveLength(4);
    expect(seen.unreadable[0]).toContain("R2 is down");
  });

  it("reads one body and the suspects while no locale is due, and so finds an empty store", async () => {
    const [suspect = ""] = partsOf("ja");
    const request = { isLocaleDue: false, suspects: [suspect] };
    expect(await check(request)).toMatchObject({ locale: null, checked: 6, damaged: [] });
    store.kv.clear();
    const lost = [suspect, proto.gzip.sha256, germanBlob];
    expect(await check(request)).toMatchObject({
      checked: 3,
      damaged: lost.map((sha256) => ({ replica: "kv", sha256, fault: "missing" })),
    });
  });

  it("gives up a store after four copies without an answer", async () => {
    store.before = () => {
      throw new Error("down");
    };
    const suspects = [...partsOf("en"), ...partsOf("ja")];
    expect((await check({ suspects })).unreadable).toHaveLength(4);
    expect(store.calls.filter((call) => / get /.test(call))).toHaveLength(4);
  });
});
