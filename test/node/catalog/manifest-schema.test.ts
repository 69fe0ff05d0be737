import { describe, expect, it } from "vitest";
import { manifestSchema } from "../../../src/parts/manifest-schema.ts";
import { toStored } from "../../../src/parts/manifest.ts";
import { aDiff, aManifest } from "../../builders/manifest.ts";
import { changed } from "../../builders/manifest-mutations.ts";

const HASH = "0".repeat(64);
const manifest = aManifest({ diffs: [aDiff(), aDiff({ deltas: null })] });
const stored = toStored(manifest);

describe("manifestSchema", () => {
  it("converts a stored manifest", () => {
    expect(manifestSchema.parse(stored)).toEqual(manifest);
  });

  it("drops unknown fields", () => {
    expect(manifestSchema.parse({ ...stored, later: "version of the Worker" })).toEqual(manifest);
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
    ["diffs.0.deltas", undefined],
    ["diffs.0.deltas.blob", "../secret"],
    ["diffs.0.deltas.locales.de.json.bytes", -1],
    ["diffs.0.deltas.locales.de.json.dictionary", "../secret"],
    ["locales", {}],
    ["locales", []],
    ["locales.en", null],
    ["locales.en.coverage", 1.01],
    ["locales.en.coverage", null],
    ["locales.en.bodies", []],
    ["locales.en.bodies.json", undefined],
    ["locales.en.bodies.json.identity", undefined],
    ["locales.en.bodies.json.br", 1],
    ["locales.en.bodies.json.br", []],
    ["locales.en.bodies.json.br", [HASH, "0"]],
    ["locales.en.bodies.json.br", ["../secret", 0]],
    ["locales.en.bodies.json.br", [HASH, 99]],
    ["locales.en.bodies.json.br", [HASH, -1]],
    ["locales.en.bodies.json.br", [HASH, 0.5]],
    ["segments", {}],
    ["segments", []],
    ["segments.0", 1],
    ["segments.0", "%"],
    ["segments.1", ["../secret", 1]],
    ["segments.1", [HASH, "1"]],
  ])("refuses a manifest whose %s is %j", (path, value) => {
    const damaged = JSON.parse(JSON.stringify(changed(stored, path.split("."), value)));
    const parsed = manifestSchema.safeParse(damaged);
    const [top = ""] = path.split(".");
    expect(
      parsed.error?.issues.every((issue) => ["segments", top].includes(String(issue.path[0]))),
    ).toBe(true);
  });
});
