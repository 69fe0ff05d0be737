import { describe, expect, it } from "vitest";
import { type Manifest, manifestBlobs } from "../../../src/catalog/manifest.ts";
import { parseManifest } from "../../../src/catalog/parse-manifest.ts";
import { storedManifest } from "../../../src/catalog/stored-manifest.ts";
import { aBody, aLocaleEntry, aManifest, blobsOf, inEveryForm } from "../../builders/manifest.ts";
import { changed } from "../../builders/manifest-mutations.ts";

const HASH = "0".repeat(64);
const stored = storedManifest(aManifest());
const textOf = (manifest: Manifest) => JSON.stringify(storedManifest(manifest));

describe("parseManifest", () => {
  it("gives back what was written", () => {
    const manifest = aManifest({
      previous: 41,
      generation: 42,
      locales: { en: aLocaleEntry({ coverage: 1 }), "zh-Hant": aLocaleEntry({ coverage: 0 }) },
    });
    expect(parseManifest(textOf(manifest))).toEqual({ ok: true, manifest });
  });

  it("names a segment of several bodies once", () => {
    const blobs = stored.segments.flatMap((segment) =>
      typeof segment === "string" ? [] : [segment[0]],
    );
    expect(blobs).toHaveLength(manifestBlobs(aManifest()).size);
  });

  it("drops fields that it does not know", () => {
    const text = JSON.stringify({ ...stored, later: { version: "of the Worker" } });
    expect(parseManifest(text)).toEqual({ ok: true, manifest: aManifest() });
  });

  it.each(["", "{", "undefined", "\u0000", '{"format":1,}', "<html>"])("refuses “%s”", (text) => {
    expect(parseManifest(text)).toEqual({ ok: false, problem: "not JSON" });
  });

  it.each(["null", "[]", "1", '"text"', "true"])("refuses %s, which is not an object", (text) => {
    expect(parseManifest(text)).toEqual({ ok: false, problem: "manifest is not an object" });
  });

  it.each([
    ["format", 2, "format is not 1"],
    ["format", "1", "format is not 1"],
    ["generation", -1, "generation is not a count"],
    ["generation", 1.5, "generation is not a count"],
    ["generation", "1", "generation is not a count"],
    ["generation", null, "generation is not a count"],
    ["generation", 2 ** 53, "generation is not a count"],
    ["previous", "1", "previous is not a count"],
    ["previous", undefined, "previous is not a count"],
    ["published_at", 0, "published_at is not a time"],
    ["published_at", "yesterday", "published_at is not a time"],
    ["published_at", "2026-11-01", "published_at is not a time"],
    ["published_at", "2026-11-01T04:17:00Z", "published_at is not a time"],
    ["published_at", "2026-11-01T04:17:00.000+01:00", "published_at is not a time"],
    ["published_at", "2026-02-30T04:17:00.000Z", "published_at is not a time"],
    ["published_at", "Sun, 01 Nov 2026 04:17:00 GMT", "published_at is not a time"],
    ["as_of", "2026-02-30", "as_of is not a day"],
    ["as_of", "2026-11-01T04:17:00.000Z", "as_of is not a day"],
    ["as_of", 20261101, "as_of is not a day"],
    ["data", {}, "data is not a list"],
    ["data", [null], "data.0 is not an object"],
    ["data", [{ as_of: "2026-11-01" }], "data.0.name is not a text"],
    ["data", [{ name: "GeoNames", as_of: null }], "data.0.as_of is not a day"],
    ["airport_set", "some", "airport_set must be all or scheduled"],
    ["catalog_sha256", "abc", "catalog_sha256 is not a SHA-256"],
    ["catalog_sha256", "A".repeat(64), "catalog_sha256 is not a SHA-256"],
    ["sources", [], "sources is not an object"],
    ["sources", { airports: 1 }, "sources.airports is not a SHA-256"],
    ["counts", undefined, "counts is not an object"],
    ["counts", { airports: 1, cities: 1, countries: 1 }, "counts.regions is not a count"],
    ["locales", undefined, "locales is not an object"],
    ["locales", {}, "locales is empty"],
    ["locales", [aLocaleEntry()].slice(1), "locales is not an object"],
    ["locales", { en: null }, "locales.en is not an object"],
    ["locales.en.coverage", 1.01, "locales.en.coverage is not a share"],
    ["locales.en.coverage", null, "locales.en.coverage is not a share"],
    ["locales.en.bodies", [], "locales.en.bodies is not an object"],
    ["locales.en.bodies.json", undefined, "locales.en.bodies.json is not an object"],
    ["locales.en.bodies.json.identity", undefined, "locales.en.bodies.json has no identity"],
    ["locales.en.bodies.json.br", 1, "locales.en.bodies.json.br is not a list"],
    ["locales.en.bodies.json.br", [], "locales.en.bodies.json.br is not a SHA-256"],
    ["locales.en.bodies.json.br", [HASH, {}], "locales.en.bodies.json.br has no segment {}"],
    ["locales.en.bodies.json.br", [HASH, "0"], 'locales.en.bodies.json.br has no segment "0"'],
    ["locales.en.bodies.json.br", [HASH, 99], "locales.en.bodies.json.br has no segment 99"],
    ["locales.en.bodies.json.br", [HASH, -1], "locales.en.bodies.json.br has no segment -1"],
    ["locales.en.bodies.json.br", [HASH, 0.5], "locales.en.bodies.json.br has no segment 0.5"],
    ["segments", {}, "segments is not a list"],
    ["segments", [1], "segments.0 is not a list"],
    ["segments", ["%"], "segments.0 is not a list"],
    ["segments", [["../secret", 1]], "segments.0.0 is not a SHA-256"],
    ["segments", [[HASH, "1"]], "segments.0.1 is not a count"],
    ["segments", [], "locales.en.bodies.proto.br has no segment 0"],
  ])("refuses %s: %j", (path, value, problem) => {
    const text = JSON.stringify(changed(stored, path.split("."), value));
    expect(parseManifest(text)).toEqual({ ok: false, problem });
  });

  it("refuses NaN and Infinity, which JSON writes as null", () => {
    const text = textOf(aManifest({ generation: Number.NaN }));
    expect(parseManifest(text)).toEqual({ ok: false, problem: "generation is not a count" });
  });

  it("takes no field from a __proto__ key", () => {
    const { generation, ...rest } = stored;
    const text = JSON.stringify(rest).replace("{", `{"__proto__":{"generation":${generation}},`);
    expect(parseManifest(text)).toEqual({ ok: false, problem: "generation is not a count" });
  });

  it("reads a locale that is named __proto__ as any other, and changes no prototype", () => {
    const text = textOf(aManifest()).replace('"en":', '"__proto__":');
    const parsed = parseManifest(text);
    expect(parsed.ok && Object.keys(parsed.manifest.locales)).toEqual(["__proto__"]);
    expect(parsed.ok && Object.getPrototypeOf(parsed.manifest.locales)).toBe(Object.prototype);
  });
});

const aDiff = {
  generation: 1,
  published_at: "2026-11-01T04:17:00.000Z",
  catalog_sha256: "a".repeat(64),
  common: "b".repeat(64),
  local: { de: "c".repeat(64), en: "d".repeat(64) },
  deltas: null,
};

const delta = { dictionary: "e".repeat(64), start: 0, bytes: 400 };
const deltas = { blob: "f".repeat(64), locales: { de: { proto: delta, json: delta }, en: {} } };

describe("the diffs of a manifest", () => {
  const parsed = (diffs: unknown) => parseManifest(JSON.stringify({ ...stored, diffs }));

  it("are read as they are", () => {
    const diffs = [aDiff, { ...aDiff, deltas }];
    expect(parsed(diffs)).toEqual({ ok: true, manifest: aManifest({ diffs }) });
  });

  it("have no deltas in a manifest of an earlier release", () => {
    const { deltas: _, ...earlier } = aDiff;
    expect(parsed([earlier])).toEqual({ ok: true, manifest: aManifest({ diffs: [aDiff] }) });
  });

  it.each([
    [{}, "diffs is not a list"],
    [[{ ...aDiff, generation: "1" }], "diffs.0.generation is not a count"],
    [[{ ...aDiff, published_at: "now" }], "diffs.0.published_at is not a time"],
    [[aDiff, { ...aDiff, catalog_sha256: 1 }], "diffs.1.catalog_sha256 is not a SHA-256"],
    [[{ ...aDiff, common: "" }], "diffs.0.common is not a SHA-256"],
    [[{ ...aDiff, local: { de: null } }], "diffs.0.local.de is not a SHA-256"],
    [[{ ...aDiff, deltas: { ...deltas, blob: 1 } }], "diffs.0.deltas.blob is not a SHA-256"],
    [
      [{ ...aDiff, deltas: { ...deltas, locales: { de: { json: { ...delta, bytes: -1 } } } } }],
      "diffs.0.deltas.locales.de.json.bytes is not a count",
    ],
  ])("are refused: %j", (diffs, problem) => {
    expect(parsed(diffs)).toEqual({ ok: false, problem });
  });
});

describe("manifestBlobs", () => {
  it("names each stored segment once, and none that stands in the manifest", () => {
    const bodies = { identity: aBody("one"), br: aBody("two") };
    const locales = {
      en: aLocaleEntry({
        bodies: inEveryForm(bodies),
      }),
    };
    const named = [...blobsOf("one"), ...blobsOf("two")].map(([sha256]) => sha256);
    expect([...manifestBlobs(aManifest({ locales }))].toSorted()).toEqual(named.toSorted());
  });

  it("names the parts of the diffs", () => {
    expect([...manifestBlobs(aManifest({ diffs: [{ ...aDiff, deltas }] }))]).toEqual(
      expect.arrayContaining([aDiff.common, aDiff.local.de, aDiff.local.en, deltas.blob]),
    );
  });
});
