import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { fillTemplate, packLayouts, packTemplate } from "../../../src/catalog/translation.ts";

const GAP_BITS = 20;
const blocks = new Uint8Array(40);

/** Reads the bits of a gap from the lowest of the first byte on. */
function bitsAt(filled: Uint8Array, bit: number): number {
  let value = 0;
  for (let at = 0; at < GAP_BITS; at++) {
    const byte = filled[(bit + at) >> 3] ?? 0;
    value += ((byte >> ((bit + at) & 7)) & 1) * 2 ** at;
  }
  return value;
}

describe("fillTemplate", () => {
  const layout = { bytes: 900, starts: [0, 100, 450] };
  const layouts = packLayouts({ proto: layout, json: { bytes: 500, starts: [7] } });

  it("fills each gap with the distance from where it is to where the browser's body has the piece", () => {
    const gap = fc.record({
      piece: fc.nat(2),
      to: fc.integer({ min: -400, max: 4000 }),
      skipped: fc.nat(50),
    });
    fc.assert(
      fc.property(fc.array(gap, { maxLength: 6 }), (found) => {
        let end = 0;
        const gaps = found.map(({ piece, to, skipped }) => {
          const bit = end + skipped;
          end = bit + GAP_BITS;
          return { bit, piece, to, bits: GAP_BITS };
        });
        const room = new Uint8Array((end >> 3) + 8);
        const template = packTemplate({ blocks: room, gaps });
        const before = 2 ** GAP_BITS + 1000;
        const stored = { template, blocks: room.length, layouts, before } as const;
        const filled = fillTemplate({ ...stored, form: "proto" });
        for (const { bit, piece, to } of gaps) {
          const distance = layout.bytes - (layout.starts[piece] ?? 0) + before + to;
          expect(filled && bitsAt(filled, bit)).toBe(distance + 3 - 2 ** GAP_BITS);
        }
      }),
    );
  });

  it("leaves the stored template as it is, for the next browser", () => {
    const gaps = [{ bit: 3, piece: 0, to: 0, bits: GAP_BITS }];
    const template = packTemplate({ blocks, gaps });
    const stored = template.slice();
    const before = 2 ** GAP_BITS;
    expect(
      fillTemplate({ template, blocks: blocks.length, form: "json", layouts, before }),
    ).not.toBeNull();
    expect(template).toEqual(stored);
  });

  it.each([
    ["too short", 2 ** GAP_BITS - 4 - 900],
    ["too long", 2 ** (GAP_BITS + 1) - 3 - 900],
  ])("gives up if a distance is %s for its gap", (_, before) => {
    const gaps = [{ bit: 0, piece: 0, to: 0, bits: GAP_BITS }];
    const template = packTemplate({ blocks, gaps });
    const fill = (length: number) =>
      fillTemplate({ template, blocks: blocks.length, form: "proto", layouts, before: length });
    expect(fill(before)).toBeNull();
    expect(fill(before < 2 ** GAP_BITS ? before + 1 : before - 1)).not.toBeNull();
  });

  it("gives up if the browser's body lacks a piece", () => {
    const fill = (piece: number) => {
      const gaps = [{ bit: 0, piece, to: 0, bits: GAP_BITS }];
      const template = packTemplate({ blocks, gaps });
      const before = 2 ** GAP_BITS;
      return fillTemplate({ template, blocks: blocks.length, form: "json", layouts, before });
    };
    expect(fill(0)).not.toBeNull();
    expect(fill(1)).toBeNull();
  });
});
