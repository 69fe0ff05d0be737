import { describe, expect, it } from "vitest";
import { manifestSchema } from "../../../src/parts/manifest-schema.ts";
import { aDiff, aManifest } from "../../builders/manifest.ts";
import { changed } from "../../builders/manifest-mutations.ts";

const manifest = aManifest({ diffs: [aDiff(), aDiff()] });

describe("manifestSchema", () => {
  it("takes a manifest as it is", () => {
    expect(manifestSchema.parse(manifest)).toEqual(manifest);
  });

  it("drops unknown fields", () => {
    expect(manifestSchema.parse({ ...manifest, later: "version of the Worker" })).toEqual(manifest);
  });

  it.each([null, undefined, [], 1, "text"])("refuses %j instead of a manifest", (value) => {
    expect(manifestSchema.safeParse(value).success).toBe(false);
  });

  it.each([
    ["format", 2],
    ["generation", -1],
    ["generation", 1.5],
    ["generation", "1"],
    ["generation", 2 ** 53],
    ["previous", "1"],
    ["previous", undefined],
    ["published_at", "yesterday"],
    ["published_at", "2026-11-01"],
    ["published_at", "2026-11-01T04:17:00Z"],
    ["published_at", "2026-11-01T04:17:00.000+01:00"],
    ["published_at", "2026-02-30T04:17:00.000Z"],
    ["as_of", "2026-02-30"],
    ["as_of", "2026-11-01T04:17:00.000Z"],
    ["data", {}],
    ["data.0.name", undefined],
    ["data.0.as_of", null],
    ["airport_set", "some"],
    ["catalog_sha256", "abc"],
    ["catalog_sha256", "A".repeat(64)],
    ["sources", []],
    ["sources.airports", 1],
    ["counts", undefined],
    ["counts.regions", undefined],
    ["diffs", {}],
    ["diffs.0.generation", "1"],
    ["diffs.0.published_at", "now"],
    ["diffs.0.catalog_sha256", 1],
    ["diffs.0.common", ""],
    ["diffs.0.local.de", null],
    ["locales", {}],
    ["locales", []],
    ["locales.en", null],
    ["locales.en.coverage", 1.01],
    ["locales.en.coverage", null],
    ["locales.en.parts", undefined],
    ["locales.en.parts.json", undefined],
    ["locales.en.parts.json.bytes", -1],
    ["locales.en.parts.json.bytes", 2 ** 31],
    ["locales.en.parts.json.bytes", 0.5],
    ["locales.en.parts.json.gzip", undefined],
    ["locales.en.parts.json.gzip.sha256", "../secret"],
    ["locales.en.parts.json.gzip.bytes", "1"],
    ["locales.en.parts.json.br", null],
    ["locales.en.parts.json.br.bytes", -1],
    ["locales.en.parts.json.digests.identity", undefined],
    ["locales.en.parts.json.digests.br", "abc"],
    ["locales.en.parts.json.crc32.message", 2 ** 32],
    ["locales.en.parts.json.crc32.framed", -1],
    ["shared", undefined],
    ["shared.proto", undefined],
    ["shared.proto.identity", undefined],
    ["shared.proto.gzip.bytes", 1.5],
    ["shared.proto.br", 1],
    ["shared.proto.brInFrame.sha256", ""],
  ])("refuses a manifest whose %s is %j", (path, value) => {
    const damaged = JSON.parse(JSON.stringify(changed(manifest, path.split("."), value)));
    const { success, error } = manifestSchema.safeParse(damaged);
    const [top = ""] = path.split(".");
    expect(success).toBe(false);
    expect(new Set(error?.issues.map((issue) => issue.path[0]))).toEqual(new Set([top]));
  });
});
