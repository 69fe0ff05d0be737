import { describe, expect, it } from "vitest";
import { encodeCommon, encodeLocal } from "../../../src/catalog/encode.ts";
import { CODINGS, REPRESENTATIONS } from "../../../src/catalog/manifest.ts";
import { commonUnits, compressPiece } from "../../../src/ingest/bodies.ts";
import { aCatalog } from "../../builders/catalog.ts";
import { encodeAll, MemoryCommon } from "../../builders/memory-common.ts";
import { expectSegmentsJoin } from "../../builders/segments.ts";

describe("joined segments", () => {
  it.each(CODINGS)("decode to the whole in %s, wherever it is cut", (coding) => {
    expectSegmentsJoin(coding);
  });
});

describe("the bodies of a locale", () => {
  const catalog = aCatalog();
  const common = encodeCommon(catalog);
  it("share a common segment in every representation and every coding, brotli too", async () => {
    expect(commonUnits()).toHaveLength(REPRESENTATIONS.length * CODINGS.length);
    const stored = await MemoryCommon.of(common);
    const { bodies } = await encodeAll(encodeLocal(catalog.regions, new Map()), stored);
    for (const unit of commonUnits()) {
      const segments = bodies[unit.representation][unit.coding]?.segments;
      const [piece, ...more] = stored.pieces(unit);
      expect(segments).toContainEqual(piece);
      expect(more).toEqual([]);
    }
  });

  it("are refused if a common segment decodes, but to other bytes", async () => {
    const unit = { representation: "json", coding: "br" } as const;
    const stored = await MemoryCommon.of(common);
    const [piece] = stored.pieces(unit);
    if (piece === undefined) throw new Error("brotli segments join here");
    const other = Uint8Array.from(common.json).fill(0x20);
    stored.replace(piece, compressPiece(unit, other, 0).bytes);
    const local = encodeLocal(catalog.regions, new Map());
    await expect(encodeAll(local, stored)).rejects.toThrow(
      "json in br does not decode to what was encoded",
    );
  });

  it("decode to the same where the common part is stored in several pieces", async () => {
    const local = encodeLocal(catalog.regions, new Map());
    const stored = await MemoryCommon.of(common, 100);
    const { bodies } = await encodeAll(local, stored); // which proves that they decode
    const pieces = stored.pieces({ representation: "json", coding: "br" });
    expect(pieces.length).toBeGreaterThan(2);
    expect(bodies.json.br?.segments).toEqual(expect.arrayContaining(pieces));
  }, 60_000);
});
