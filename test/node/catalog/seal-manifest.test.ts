import { describe, expect, it } from "vitest";
import { openManifest, sealManifest } from "../../../src/catalog/seal-manifest.ts";
import { aManifest } from "../../builders/manifest.ts";

const manifest = aManifest();
const sealed = Buffer.from(sealManifest(manifest));

describe("a sealed manifest", () => {
  it("opens as what was sealed", () => {
    expect(openManifest(sealed.toString())).toEqual({ ok: true, manifest });
  });

  it("does not open with any bit flipped, so that no changed digit is served", () => {
    const opened = [...sealed.keys()].flatMap((at) =>
      Array.from({ length: 8 }, (_, bit) => {
        const damaged = Buffer.from(sealed);
        damaged[at] = (damaged[at] ?? 0) ^ (1 << bit);
        return openManifest(damaged.toString()).ok;
      }),
    );
    expect(opened).not.toContain(true);
  });

  it("does not open when its end is cut off, with or without the seal", () => {
    const opened = [...sealed.keys()].map(
      (length) => openManifest(sealed.subarray(0, length).toString()).ok,
    );
    expect(opened).not.toContain(true);
  });
});
