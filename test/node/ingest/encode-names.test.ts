import { brotliCompressSync, brotliDecompressSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import type { PackedNames } from "../../../src/catalog/packed-names.ts";
import { type HashedBlob, hashBlob } from "../../../src/ingest/locale-parts.ts";
import { encodeNames } from "../../../src/ingest/encode-names.ts";
import type { Effort } from "../../../src/parts/codings.ts";
import { aRegion } from "../../builders/catalog.ts";

const REGIONS = [aRegion(), aRegion({ key: "m49:150", slug: "europe", name: "Europe" })];
const GERMAN = {
  locale: "de",
  regions: REGIONS,
  names: new Map([["iso3166-2:CH-ZH", { name: "Zürich-Land", slug: "zuerich-land-ch" }]]),
};

/** Encodes names, and returns what they refer to: what is stored, or what was there before. */
async function encoded(
  before: HashedBlob | null,
  effort: Effort = "fast",
  names = GERMAN,
): Promise<Uint8Array> {
  const stored: HashedBlob[] = [];
  const part = await encodeNames(names, {
    effort,
    earlier: async () => before,
    store: async (blob) => void stored.push(blob),
  });
  const [blob = before, ...others] = stored;
  expect(others).toEqual([]);
  expect(part).toEqual({ sha256: blob?.sha256, bytes: blob?.bytes.length });
  return blob?.bytes ?? new Uint8Array();
}

describe("the names of a locale", () => {
  it.each(["fast", "best"] as const)("are packed in brotli at effort %s", async (effort) => {
    const json = brotliDecompressSync(await encoded(null, effort)).toString();
    const packed: PackedNames = JSON.parse(json);
    expect(packed).toEqual({ letters: [["ü", "ue"]], names: ["Zürich-Land", ""], slugs: {} });
  });

  it("reuse the earlier names if they decode to the same bytes, and otherwise are made again", async () => {
    const made = await encoded(null);
    const same = brotliCompressSync(brotliDecompressSync(made), { params: {} });
    expect(await encoded(hashBlob(same), "best")).toEqual(same);
    const others = await encoded(null, "fast", { ...GERMAN, names: new Map() });
    for (const wrong of [others, made.subarray(0, -1), new Uint8Array()])
      expect(await encoded(hashBlob(wrong))).toEqual(made);
  });
});
