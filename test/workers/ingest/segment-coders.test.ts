import { describe, expect, it } from "vitest";
import { encodeCommon, encodeLocal } from "../../../src/catalog/encode.ts";
import { CODINGS, REPRESENTATIONS } from "../../../src/catalog/manifest.ts";
import {
  type CommonUnit,
  commonUnits,
  encodeBodies,
  encodeCommonSegment,
} from "../../../src/ingest/bodies.ts";
import { aCatalog } from "../../builders/catalog.ts";
import { expectSegmentsJoin } from "../../builders/segments.ts";

describe("joined segments", () => {
  it.each(CODINGS)("decode to the whole in %s, wherever it is cut", (coding) => {
    expectSegmentsJoin(coding);
  });
});

describe("the bodies of a locale", () => {
  const catalog = aCatalog();
  const common = encodeCommon(catalog);
  const keyOf = ({ representation, coding }: CommonUnit) => `${representation} ${coding}`;
  const blobs = new Map(
    commonUnits().map((unit) => [keyOf(unit), encodeCommonSegment(unit, common)]),
  );
  const commonSegment = (unit: CommonUnit) => {
    const blob = blobs.get(keyOf(unit));
    if (blob === undefined) throw new Error(`no segment for ${keyOf(unit)}`);
    return blob;
  };

  it("share a common segment in every representation and every coding, brotli too", () => {
    expect(commonUnits()).toHaveLength(REPRESENTATIONS.length * CODINGS.length);
    const { bodies } = encodeBodies(common, encodeLocal(catalog.regions, new Map()), commonSegment);
    for (const unit of commonUnits()) {
      const segments = bodies[unit.representation][unit.coding]?.segments;
      const { sha256, bytes } = commonSegment(unit);
      expect(segments, keyOf(unit)).toContainEqual({ blob: sha256, bytes: bytes.length });
    }
  });
});
