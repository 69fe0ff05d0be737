/**
 * A locale's own part as blocks of a Zstandard frame (RFC 8878), which follow a copy of the common part
 * from any body that a browser has (`src/catalog/find-body.ts`).
 */
import { concatenate } from "../catalog/bytes.ts";
import { BLOCK_MAX_BYTES, decodesTo, encodeStart, rawBlocks } from "../catalog/dcz.ts";

/**
 * Bytes that stay uncompressed. At the beginning an encoder may repeat distances that every frame starts
 * with, but here the copy has set others. It does so for one beginning in ten, so another one is tried.
 */
const PLAIN_BYTES = [0, 512, 2_048, 8_192];

/** A copy of three blocks sets every distance that a decoder remembers, as the real one may. */
const COMMON = new Uint8Array(3 * BLOCK_MAX_BYTES);
/** No part has it three times in a row: it is not in UTF-8, and lengths are short. */
const FOREIGN_BYTE = 0xff;

/**
 * Encodes a part as blocks, and decodes them again.
 *
 * @param compress makes a frame.
 * @param earlier are taken instead if they decode to the part.
 * @returns undefined if that does not give the part, whatever of it stays uncompressed.
 */
export async function encodeBlocks(
  part: Uint8Array,
  compress: (bytes: Uint8Array) => Promise<Uint8Array>,
  earlier?: Uint8Array,
): Promise<Uint8Array | undefined> {
  if (earlier && followsAnyBody([earlier], part)) return earlier;
  for (const plain of PLAIN_BYTES) {
    const frame = await compress(part.subarray(plain));
    const blocks = [...rawBlocks(part.subarray(0, plain)), frame.subarray(headerLength(frame))];
    if (followsAnyBody(blocks, part)) return concatenate(blocks);
  }
  return undefined;
}

/** Whether blocks decode to a part behind a copy from a body that has nothing else in common with it. */
function followsAnyBody(blocks: readonly Uint8Array[], part: Uint8Array): boolean {
  const foreign = new Uint8Array(part.length + 1).fill(FOREIGN_BYTE); // a repeated distance may be one less
  const target = concatenate([COMMON, part]);
  const dictionary = { sha256: "", bytes: COMMON.length + foreign.length };
  const start = encodeStart({ dictionary, common: COMMON.length, bytes: target.length });
  return decodesTo(concatenate([start, ...blocks]), [COMMON, foreign], target);
}

/** Length of a frame's header (RFC 8878, section 3.1.1.1). */
function headerLength([, , , , descriptor = 0]: Uint8Array): number {
  const isSingleSegment = (descriptor & 0x20) !== 0;
  const sizeBytes = [Number(isSingleSegment), 2, 4, 8][descriptor >> 6] ?? 0;
  return 5 + Number(!isSingleSegment) + sizeBytes;
}
