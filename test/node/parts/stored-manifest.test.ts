import { describe, expect, it } from "vitest";
import { sha256Hex } from "../../../src/catalog/bytes.ts";
import { openManifest, serializeManifest } from "../../../src/parts/stored-manifest.ts";
import { aDiff, aLocaleEntry, aManifest } from "../../builders/manifest.ts";

const manifest = aManifest({
  generation: 42,
  previous: 41,
  diffs: [aDiff()],
  locales: { en: aLocaleEntry({ coverage: 1 }), "zh-Hant": aLocaleEntry({ coverage: 0 }) },
});
const stored = Uint8Array.from(Buffer.from(serializeManifest(manifest)));

/** Adds its checksum to any text: another release may have written it, and JSON may be broken. */
function withChecksum(text: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(Buffer.from(`${text}\n${sha256Hex(text)}`));
}

describe("a stored manifest", () => {
  it("opens as the manifest that was stored", async () => {
    expect(await openManifest(stored)).toEqual({ ok: true, manifest });
  });

  it("is JSON that says its format, so that an earlier release can name it", () => {
    const [json = ""] = serializeManifest(manifest).split("\n");
    expect(JSON.parse(json)).toMatchObject({ format: 6 });
  });

  it("does not open with a bit of any byte flipped, so that no changed digit is served", async () => {
    const opened = [...stored.keys()].map(async (at) => {
      const damaged = stored.slice();
      damaged[at] = (damaged[at] ?? 0) ^ (1 << (at % 8));
      return (await openManifest(damaged)).ok;
    });
    expect(await Promise.all(opened)).not.toContain(true);
  });

  it("does not open when its end is cut off, with or without the checksum", async () => {
    const opened = [...stored.keys()].map(
      async (length) => (await openManifest(stored.subarray(0, length))).ok,
    );
    expect(await Promise.all(opened)).not.toContain(true);
  });

  it.each([
    [4, true, "it has format 4, and this Worker reads 5 and 6"],
    [7, false, "it has format 7, and this Worker reads 5 and 6; deploy a Worker that reads it"],
  ])("does not open in format %i", async (format, isTooOld, problem) => {
    expect(await openManifest(withChecksum(`{"format":${format}}`))).toEqual({
      ok: false,
      isTooOld,
      problem,
    });
  });

  it.each([
    ["is no JSON", "{}}"],
    ["has no format", "{}"],
    ["is null", "null"],
    [
      "has the previous format and no locale",
      '{"format":5,"lines":[{"segments":[],"locales":[]},[]]}',
    ],
  ])("does not open if its checksum is right but it %s", async (_, text) => {
    expect(await openManifest(withChecksum(text))).toEqual({
      ok: false,
      isTooOld: false,
      problem: "it is not a manifest in JSON",
    });
  });
});
