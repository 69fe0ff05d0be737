import { describe, expect, it } from "vitest";
import { manifestBlobs } from "../../../src/parts/manifest.ts";
import {
  aBody,
  aDiff,
  aLocaleEntry,
  aManifest,
  blobsOf,
  inEveryForm,
} from "../../builders/manifest.ts";

describe("manifestBlobs", () => {
  it("returns each stored segment once, and none that is part of the manifest", () => {
    const bodies = inEveryForm({ identity: aBody("one"), br: aBody("two") });
    const locales = { en: aLocaleEntry({ bodies }) };
    const named = [...blobsOf("one"), ...blobsOf("two")].map(([sha256]) => sha256);
    expect([...manifestBlobs(aManifest({ locales }))].toSorted()).toEqual(named.toSorted());
  });

  it("returns the parts of the diffs and the blob of their deltas", () => {
    const diff = aDiff();
    expect([...manifestBlobs(aManifest({ diffs: [diff] }))]).toEqual(
      expect.arrayContaining([diff.common, ...Object.values(diff.local), diff.deltas?.blob]),
    );
  });
});
