import { constants, zstdCompressSync, zstdDecompressSync } from "node:zlib";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { concatenate } from "../../../src/catalog/bytes.ts";
import { blockHeader, COMPRESSED, LAST_BLOCK } from "../../../src/catalog/dcz.ts";
import { compressPieces } from "../../../src/ingest/segment-coders.ts";
import {
  type Block,
  readBlocks,
  SequenceWriter,
  withTable,
} from "../../../src/ingest/zstd-blocks.ts";

/** Magic number, and a descriptor: no checksum, a window of a megabyte. */
const FRAME_HEADER = Uint8Array.of(0x28, 0xb5, 0x2f, 0xfd, 0, 10 << 3);

const NO_SEQUENCES = Uint8Array.of(0);

/** Writes a frame anew, with the sequences of its blocks. */
function rewrite(blocks: readonly Block[]): Uint8Array {
  const writer = new SequenceWriter();
  return concatenate([
    FRAME_HEADER,
    ...blocks.flatMap(({ type, bytes, content, sequences }) => {
      if (type !== COMPRESSED) return [blockHeader(type, bytes), content];
      const section = writer.write(sequences).bytes;
      return [blockHeader(type, content.length + section.length), content, section];
    }),
    LAST_BLOCK,
  ]);
}

/** Words that repeat at all distances, and bytes that do not. */
const text = fc
  .array(fc.oneof(fc.constantFrom("Zürich", "region", "ZRH", "…"), fc.string()), {
    minLength: 1,
    maxLength: 400,
  })
  .chain((words) =>
    fc
      .array(fc.nat(words.length - 1), { maxLength: 4000 })
      .map((order) => Buffer.from(order.map((at) => words[at]).join(" "))),
  );

describe("readBlocks and SequenceWriter", () => {
  it("write a frame of any text and level so that it decodes to the same", () => {
    fc.assert(
      fc.property(text, fc.constantFrom(-5, 1, 3, 9, 19), (bytes, level) => {
        const params = { [constants.ZSTD_c_compressionLevel]: level };
        const blocks = readBlocks(zstdCompressSync(bytes, { params }));
        expect(blocks.reduce((sum, block) => sum + block.bytes, 0)).toBe(bytes.length);
        expect(zstdDecompressSync(rewrite(blocks))).toEqual(bytes);
      }),
      { numRuns: 60 },
    );
  });

  it("refuse a frame that is cut off anywhere", () => {
    const frame = zstdCompressSync(Buffer.from("Zürich, Zürich and again Zürich".repeat(9)));
    for (let end = 6; end < frame.length; end++)
      expect(() => readBlocks(frame.subarray(0, end))).toThrow();
  });

  it("write any sequences so that they are read again as they were", () => {
    const length = fc.oneof(fc.nat(40), fc.nat(60_000));
    const sequence = fc.record({
      literals: length,
      bytes: length.map((more) => more + 3),
      distance: fc.oneof(fc.constantFrom(1, 2, 3, 700), fc.integer({ min: 1, max: 4_000_000 })),
    });
    fc.assert(
      fc.property(fc.array(sequence, { minLength: 1, maxLength: 300 }), (sequences) => {
        const section = new SequenceWriter().write(sequences).bytes;
        const noLiterals = Uint8Array.of(0);
        const frame = concatenate([
          FRAME_HEADER,
          blockHeader(COMPRESSED, 1 + section.length),
          noLiterals,
          section,
          LAST_BLOCK,
        ]);
        expect(readBlocks(frame)[0]?.sequences).toEqual(sequences);
      }),
    );
  });

  it("write more sequences than two bytes can count", () => {
    const sequences = Array.from({ length: 40_000 }, (_, index) => ({
      literals: index % 2,
      bytes: 3,
      distance: 1 + (index % 5),
    }));
    const section = new SequenceWriter().write(sequences).bytes;
    const content = concatenate([Uint8Array.of(0), section]);
    const frame = concatenate([FRAME_HEADER, blockHeader(COMPRESSED, content.length), content]);
    const last = concatenate([frame, LAST_BLOCK]);
    expect(readBlocks(last)[0]?.sequences).toEqual(sequences);
  });

  it("leave the bits of a distance open, once while it is among the last three", () => {
    const [a, b] = [{ bits: 20 }, { bits: 20 }];
    const sequences = [a, b, a, 9, b, 10, a].map((distance) => ({
      literals: 1,
      bytes: 5,
      distance,
    }));
    const { bytes, open } = new SequenceWriter<{ bits: number }>().write(sequences);
    expect(open.map(({ distance }) => distance)).toEqual([a, b, a]);
    for (const { bit } of open) {
      const inBytes = [...bytes].map((byte) => byte.toString(2).padStart(8, "0")).toReversed();
      const end = 8 * bytes.length - bit;
      expect(inBytes.join("").slice(end - 20, end)).toBe("0".repeat(20));
    }
  });

  it.each([300, 1_500, 12_000])(
    "give %i literals the table of the block before, which they would need",
    async (length) => {
      // Letters in no order: there is nothing to copy.
      let state = 7;
      const letter = () => (state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0) >>> 16;
      const pieces = [2_000, length].map((count) =>
        Uint8Array.from({ length: count }, () => 97 + Math.min(letter() % 26, letter() % 26)),
      );
      const frame = await compressPieces(pieces, { effort: "fast", window: 20 });
      const [, block] = readBlocks(frame);
      expect(block).toMatchObject({ literals: "treeless", bytes: length, sequences: [] });
      const content = concatenate([(block && withTable(block)) ?? new Uint8Array(), NO_SEQUENCES]);
      const alone = [FRAME_HEADER, blockHeader(COMPRESSED, content.length), content, LAST_BLOCK];
      expect(zstdDecompressSync(concatenate(alone))).toEqual(Buffer.from(pieces[1] ?? []));
    },
  );
});
