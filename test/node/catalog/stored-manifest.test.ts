import { describe, expect, it } from "vitest";
import { sha256Hex } from "../../../src/catalog/bytes.ts";
import { findBody } from "../../../src/parts/compose.ts";
import { fromStored, manifestBlobs, toStored } from "../../../src/parts/manifest.ts";
import { openManifest, sealManifest } from "../../../src/parts/sealed-manifest.ts";
import { aBody, aDiff, aLocaleEntry, aManifest } from "../../builders/manifest.ts";

const manifest = aManifest({
  generation: 42,
  previous: 41,
  diffs: [aDiff()],
  locales: {
    en: aLocaleEntry({ coverage: 1, own: { proto: { blob: sha256Hex("own"), bytes: 9 } } }),
    "zh-Hant": aLocaleEntry({ coverage: 0 }),
  },
});
const sealed = Uint8Array.from(Buffer.from(sealManifest(manifest)));

/** Seals lines: another release may have one, and a line may be broken. */
function sealedAs(...lines: readonly string[]): Uint8Array<ArrayBuffer> {
  const text = lines.join("\n");
  return Uint8Array.from(Buffer.from(`${text}\n${sha256Hex(text)}`));
}

/** The lines of a sealed manifest: the opening, the head, the diffs, each locale, and the end. */
function linesOf(sealedText: string): string[] {
  return sealedText.split("\n").slice(0, -1);
}

/** A locale whose bodies are long enough for a delta to be shorter. */
function aLongEntry() {
  const { bodies } = aLocaleEntry();
  const part = (name: string) => ({ blob: sha256Hex(name), bytes: 1_000 });
  const segments = [part("common"), part("local")];
  const json = { identity: { sha256: sha256Hex("long"), bytes: 2_000, segments } };
  return aLocaleEntry({ bodies: { ...bodies, json }, own: { json: part("own") } });
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
    const withoutBodies = { coverage: 1, bodies: {}, own: {} };
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

  it("is JSON that says its format, so that an earlier release can name it", () => {
    const json = linesOf(sealManifest(manifest)).join("\n");
    expect(JSON.parse(json)).toMatchObject({ format: 5 });
  });

  it("opens as well if an earlier release has sealed it in format 4", async () => {
    const lines = linesOf(sealManifest(manifest)).with(0, '{"format":4,"lines":[');
    const former = sealedAs(...lines);
    expect(await openManifest(former)).toEqual({ ok: true, manifest });
  });

  it("lists a segment once that several locales have, and others at their locale", () => {
    const blob = (name: string) => ({ blob: sha256Hex(name), bytes: 4 });
    const entryWith = (name: string) => {
      const { bodies } = aLocaleEntry();
      const identity = { ...aBody("proto"), segments: [blob("common"), blob(name)] };
      return aLocaleEntry({ bodies: { ...bodies, proto: { identity } } });
    };
    const locales = { en: entryWith("English"), de: entryWith("German") };
    const [, head, , ...entries] = linesOf(sealManifest(aManifest({ locales }))).slice(0, -1);
    const placesOf = (name: string) =>
      [head, ...entries].map((line) => line?.split(sha256Hex(name)).length);
    expect(placesOf("common")).toEqual([2, 1, 1]);
    expect(placesOf("English")).toEqual([1, 2, 1]);
    expect(placesOf("German")).toEqual([1, 1, 2]);
  });

  it("reads no diff and no locale before somebody does", async () => {
    const [opening = "", head = "", , en = ""] = linesOf(sealManifest(manifest));
    const opened = await openManifest(sealedAs(opening, head, "broken", en, "broken"));
    if (!opened.ok) throw new Error(opened.problem);
    expect(opened.manifest.locales["en"]).toEqual(manifest.locales["en"]);
    expect(() => opened.manifest.locales["zh-Hant"]).toThrow(SyntaxError);
    expect(() => opened.manifest.diffs).toThrow(SyntaxError);
  });

  it("finds the locale of a browser's dictionary without reading the others", async () => {
    const entry = aLongEntry();
    const locales = { de: aLocaleEntry(), en: entry };
    const lines = linesOf(sealManifest(aManifest({ locales })));
    const opened = await openManifest(sealedAs(...lines.with(3, "broken")));
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

  it("does not open with a bit of any byte flipped, so that no changed digit is served", async () => {
    const opened = [...sealed.keys()].map(async (at) => {
      const damaged = sealed.slice();
      damaged[at] = (damaged[at] ?? 0) ^ (1 << (at % 8));
      return (await openManifest(damaged)).ok;
    });
    expect(await Promise.all(opened)).not.toContain(true);
  });

  it("does not open when its end is cut off, with or without the seal", async () => {
    const opened = [...sealed.keys()].map(
      async (length) => (await openManifest(sealed.subarray(0, length))).ok,
    );
    expect(await Promise.all(opened)).not.toContain(true);
  });

  it.each([
    [3, true, "it has format 3, and this Worker reads 4 to 5"],
    [6, false, "it has format 6, and this Worker reads 4 to 5; deploy a Worker that reads it"],
  ])("does not open in format %i", async (format, isFormer, problem) => {
    expect(await openManifest(sealedAs(`{"format":${format},"lines":[`, "]}"))).toEqual({
      ok: false,
      isFormer,
      problem,
    });
  });

  it("does not open if it is sealed but no JSON", async () => {
    expect(await openManifest(sealedAs("{", "}}"))).toEqual({
      ok: false,
      isFormer: false,
      problem: "it is not JSON",
    });
  });
});
