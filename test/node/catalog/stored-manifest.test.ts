import { describe, expect, it } from "vitest";
import { sha256Hex } from "../../../src/catalog/bytes.ts";
import { findBody } from "../../../src/catalog/find-body.ts";
import {
  fromStored,
  manifestBlobs,
  openManifest,
  sealManifest,
  toStored,
} from "../../../src/catalog/manifest.ts";
import { aBody, aDiff, aLocaleEntry, aManifest } from "../../builders/manifest.ts";

const manifest = aManifest({
  generation: 42,
  previous: 41,
  diffs: [aDiff()],
  locales: { en: aLocaleEntry({ coverage: 1 }), "zh-Hant": aLocaleEntry({ coverage: 0 }) },
});
const sealed = Uint8Array.from(Buffer.from(sealManifest(manifest)));

/** Seals what another release may store. */
function sealedAs(value: object): Uint8Array<ArrayBuffer> {
  const json = JSON.stringify(value);
  return Uint8Array.from(Buffer.from(`${json}\n${sha256Hex(json)}`));
}

/** A locale from which and to which browsers translate. */
function aTranslatableEntry() {
  const { bodies } = aLocaleEntry();
  const { segments, ...identity } = aBody("json");
  const json = { identity: { ...identity, segments: segments.slice(1) } };
  const blob = { blob: sha256Hex("template"), bytes: 8 };
  const translation = {
    pieces: sha256Hex("pieces"),
    layouts: sha256Hex("layouts"),
    templates: { proto: blob, json: blob },
  };
  return aLocaleEntry({ bodies: { ...bodies, json }, translation });
}

describe("toStored", () => {
  it("lists a segment once that several bodies share", () => {
    const { segments } = toStored(aManifest());
    const blobs = segments.flatMap((segment) => (typeof segment === "string" ? [] : [segment[0]]));
    expect(blobs).toHaveLength(manifestBlobs(aManifest()).size);
  });
});

describe("fromStored", () => {
  const stored = toStored(manifest);

  it("converts no locale before it is read", () => {
    const { en } = stored.locales;
    const withoutBodies = { coverage: 1, bodies: {} };
    const { locales } = fromStored({
      ...stored,
      locales: { ...(en && { en }), de: withoutBodies },
    });
    expect(locales["en"]).toEqual(manifest.locales["en"]);
    expect(() => locales["de"]).toThrow("a locale has no message");
  });

  it("converts a locale once, so that what is memoized for a body is found again", () => {
    const { locales } = fromStored(stored);
    expect(locales["en"]).toBe(locales["en"]);
  });
});

describe("a sealed manifest", () => {
  it("opens as the manifest that was sealed", async () => {
    expect(await openManifest(sealed)).toEqual({ ok: true, manifest });
  });

  it("opens in the format before, in which the diffs and locales are no strings", async () => {
    expect(await openManifest(sealedAs(toStored(manifest)))).toEqual({ ok: true, manifest });
  });

  it("reads no diff and no locale before somebody does", async () => {
    const { diffs: _, ...stored } = toStored(manifest);
    const locales = { en: JSON.stringify(stored.locales["en"]), de: "broken" };
    const opened = await openManifest(sealedAs({ ...stored, format: 2, diffs: "broken", locales }));
    if (!opened.ok) throw new Error(opened.problem);
    expect(opened.manifest.locales["en"]).toEqual(manifest.locales["en"]);
    expect(() => opened.manifest.locales["de"]).toThrow(SyntaxError);
    expect(() => opened.manifest.diffs).toThrow(SyntaxError);
  });

  it("finds the locale of a browser's dictionary without reading the others", async () => {
    const entry = aTranslatableEntry();
    const { diffs: _, ...stored } = toStored(aManifest({ locales: { en: entry } }));
    const locales = { de: "broken", en: JSON.stringify(stored.locales["en"]) };
    const opened = await openManifest(sealedAs({ ...stored, format: 2, diffs: "[]", locales }));
    if (!opened.ok) throw new Error(opened.problem);
    const find = (dictionary = "") => {
      const coding = `dcz:${dictionary}` as const;
      return findBody(opened.manifest, { locale: "en", representation: "json", coding });
    };
    const held = entry.bodies.json.identity?.sha256;
    expect(find(held)).toBeDefined();
    expect(find(held)).toBe(find(held));
    expect(find(sha256Hex("unknown"))).toBeUndefined();
  });

  it("does not open with any bit flipped, so that no changed digit is served", async () => {
    const opened = [...sealed.keys()].flatMap((at) =>
      Array.from({ length: 8 }, async (_, bit) => {
        const damaged = sealed.slice();
        damaged[at] = (damaged[at] ?? 0) ^ (1 << bit);
        return (await openManifest(damaged)).ok;
      }),
    );
    expect(await Promise.all(opened)).not.toContain(true);
  });

  it("does not open when its end is cut off, with or without the seal", async () => {
    const opened = [...sealed.keys()].map(
      async (length) => (await openManifest(sealed.subarray(0, length))).ok,
    );
    expect(await Promise.all(opened)).not.toContain(true);
  });

  it("does not open in a format that this release does not know", async () => {
    expect(await openManifest(sealedAs({ format: 3 }))).toMatchObject({ ok: false });
  });
});
