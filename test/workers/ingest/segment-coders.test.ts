import { describe, expect, it } from "vitest";
import { encodeCommon, encodeLocal } from "../../../src/catalog/encode.ts";
import { CODINGS, REPRESENTATIONS } from "../../../src/catalog/manifest.ts";
import { commonUnits, toSegment } from "../../../src/ingest/bodies.ts";
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
  const local = encodeLocal(catalog.regions, new Map());

  it("share a common segment in every representation and every coding, brotli too", async () => {
    expect(commonUnits()).toHaveLength(REPRESENTATIONS.length * CODINGS.length);
    const stored = new MemoryCommon(common);
    const { bodies } = await encodeAll(local, stored);
    for (const unit of commonUnits())
      expect(bodies[unit.representation][unit.coding]?.segments).toContainEqual(
        toSegment(stored.segment(unit)),
      );
  });

  it("are refused if a common segment decodes, but to other bytes", async () => {
    const unit = { representation: "json", coding: "br" } as const;
    const stored = new MemoryCommon(common);
    const other = new MemoryCommon({ ...common, json: Uint8Array.from(common.json).fill(0x20) });
    stored.replace(unit, other.segment(unit).bytes);
    await expect(encodeAll(local, stored)).rejects.toThrow(
      "json in br does not decode to its input",
    );
  });
});
