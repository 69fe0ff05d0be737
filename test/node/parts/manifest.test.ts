import { describe, expect, it } from "vitest";
import { blobsOf, neededBlobs } from "../../../src/parts/manifest.ts";
import { aDiff, aManifest, aVersion } from "../../builders/manifest.ts";

describe("neededBlobs", () => {
  it("lists every stored part, and of which locale it is", () => {
    const { manifest, blobs } = aVersion(1, "text", ["de", "en"]);
    const needed = neededBlobs(manifest);
    expect(needed.map(({ sha256 }) => sha256).toSorted()).toEqual(
      blobs.map(([sha256]) => sha256).toSorted(),
    );
    expect(needed.every(({ isOfBody }) => isOfBody)).toBe(true);
    // Two forms, without a coding and in gzip; two forms in gzip of each locale.
    const counts = [null, "de", "en"].map(
      (locale) => needed.filter((blob) => blob.locale === locale).length,
    );
    expect(counts).toEqual([4, 2, 2]);
  });

  it("lists the parts of diffs, without which bodies can be sent", () => {
    const diff = aDiff();
    const needed = neededBlobs(aManifest({ diffs: [diff] }));
    expect(needed.filter(({ isOfBody }) => !isOfBody)).toEqual([
      { sha256: diff.common, locale: null, isOfBody: false },
      { sha256: diff.local["de"], locale: "de", isOfBody: false },
      { sha256: diff.local["en"], locale: "en", isOfBody: false },
    ]);
  });
});

describe("blobsOf", () => {
  it("names each blob of some versions once", () => {
    const [one, two] = [aVersion(1, "one"), aVersion(2, "two")];
    const all = [...one.blobs, ...two.blobs].map(([sha256]) => sha256);
    expect([...blobsOf(one.manifest, two.manifest, one.manifest)].toSorted()).toEqual(
      all.toSorted(),
    );
    expect(blobsOf().size).toBe(0);
  });
});
