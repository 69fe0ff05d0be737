import { describe, expect, it } from "vitest";
import { manifestBlobs } from "../../../src/catalog/manifest.ts";
import { describeVersion, garbage, rolledBack } from "../../../src/ingest/versions.ts";
import { aManifest, aVersion } from "../../builders/manifest.ts";

describe("describeVersion", () => {
  it("sums a manifest up, and says whether it is the current one", () => {
    const manifest = aManifest({ generation: 3 });
    expect(describeVersion(manifest, 3)).toEqual({
      generation: 3,
      publishedAt: manifest.published_at,
      catalogSha256: manifest.catalog_sha256,
      counts: manifest.counts,
      locales: ["en"],
      isCurrent: true,
    });
    expect(describeVersion(manifest, 4).isCurrent).toBe(false);
  });
});

describe("rolledBack", () => {
  it("is the earlier manifest, as the successor of the current one", () => {
    const earlier = aVersion(2, "old").manifest;
    const current = aVersion(7, "new").manifest;
    expect(rolledBack(earlier, current, "2026-11-02T00:00:00.000Z")).toEqual({
      ...earlier,
      generation: 8,
      previous: 7,
      published_at: "2026-11-02T00:00:00.000Z",
    });
  });
});

describe("garbage", () => {
  it("is every stored blob that no retained version names, and no other", () => {
    const [one, two] = [aVersion(1, "one").manifest, aVersion(2, "two").manifest];
    const stored = [...manifestBlobs(one), "stray", ...manifestBlobs(two)];
    expect(garbage(stored, [one, two])).toEqual(["stray"]);
    expect(garbage(stored, [two])).toEqual([...manifestBlobs(one), "stray"]);
    expect(garbage(stored, [])).toEqual(stored);
    expect(garbage([], [one])).toEqual([]);
  });
});
