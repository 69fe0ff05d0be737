/**
 * The content coding `dcz` (RFC 9842, section 5) of bytes that are mostly copies of a dictionary: a
 * Zstandard frame (RFC 8878) with a block for each copy and raw blocks between them. Each copy is the
 * only sequence of its block, so its codes need no table. Pure: no clock, no I/O.
 */
import { Buffer } from "node:buffer";
import { node } from "../platform/node.ts";
import { concatenate, releaseBuffer } from "./bytes.ts";

/** Bytes of the target that are the same as the dictionary's; at least `MATCH_MIN_BYTES`. */
export interface CopiedRange {
  /** Offset in the dictionary. */
  readonly from: number;
  /** Offset in the target. */
  readonly to: number;
  readonly bytes: number;
}

/** A shorter match is not worth a block. */
export const MATCH_MIN_BYTES = 131;
/** Longest block before compression (RFC 8878, section 3.1.1.2.4). */
export const BLOCK_MAX_BYTES = 1 << 17;

/** A skippable frame that holds the dictionary's SHA-256. */
const DICTIONARY_FRAME = Uint8Array.of(0x5e, 0x2a, 0x4d, 0x18, 0x20, 0, 0, 0);
const DICTIONARY_FRAME_BYTES = DICTIONARY_FRAME.length + 32;
/** Magic number, and a descriptor: a single segment with a length of four bytes. */
const FRAME_START = Uint8Array.of(0x28, 0xb5, 0x2f, 0xfd, 0xa0);
const ZSTD_HEADER_BYTES = FRAME_START.length + 4;

/** Input of `encodeDcz`. */
export interface Delta {
  readonly dictionary: {
    /** Hex. */
    readonly sha256: string;
    readonly bytes: number;
  };
  readonly target: Uint8Array;
  /** The copied ranges, in the order of the target and without overlaps. */
  readonly matches: readonly CopiedRange[];
}

/** Encodes a target by its matches. */
export function encodeDcz({ dictionary, target, matches }: Delta): Uint8Array<ArrayBuffer> {
  const blocks: Uint8Array[] = [];
  let end = 0;
  for (const { from, to, bytes: length } of matches) {
    blocks.push(...rawBlocks(target.subarray(end, to)));
    blocks.push(...copyBlocks(dictionary.bytes - from + to, length));
    end = to + length;
  }
  blocks.push(...rawBlocks(target.subarray(end)), LAST_BLOCK);
  return concatenate([dczHeader(dictionary, target.length), ...blocks]);
}

/** Input of `encodeStart`. */
interface DczStart {
  readonly dictionary: Delta["dictionary"];
  /** Length of what is copied from the start of the dictionary. */
  readonly common: number;
  /** Length of the whole target. */
  readonly bytes: number;
}

/** Encodes a target up to where it differs from its dictionary. Other blocks follow. */
export function encodeStart({ dictionary, common, bytes }: DczStart): Uint8Array<ArrayBuffer> {
  return concatenate([dczHeader(dictionary, bytes), ...copyBlocks(dictionary.bytes, common)]);
}

/** Encodes what comes before the blocks. */
export function dczHeader(
  { sha256 }: Pick<Delta["dictionary"], "sha256">,
  bytes: number,
): Uint8Array<ArrayBuffer> {
  const hash = new Uint8Array(32);
  hash.set(Buffer.from(sha256, "hex"));
  return concatenate([DICTIONARY_FRAME, hash, zstdFrameHeader(bytes)]);
}

/** Length of what comes before the blocks. */
export const DCZ_HEADER_BYTES = DICTIONARY_FRAME_BYTES + ZSTD_HEADER_BYTES;

/** Lets zlib decode in one piece, and read a frame to its end, which a full buffer would hide. */
const SPARE_BYTES = 64;

/** Decodes a Zstandard frame of at most `bytes`. Throws if it is damaged. */
function decodeZstd(frame: Uint8Array, bytes: number): Buffer {
  return node.zlib.zstdDecompressSync(frame, { chunkSize: bytes + SPARE_BYTES });
}

/**
 * Whether a delta decodes to a target with a dictionary, which may be in pieces. For decoders that
 * take no dictionary, the same blocks are put behind raw blocks of it: distances are the same.
 */
export function decodesTo(
  dcz: Uint8Array,
  dictionary: readonly Uint8Array[],
  target: Uint8Array,
): boolean {
  const header = dcz.subarray(DICTIONARY_FRAME_BYTES, DCZ_HEADER_BYTES);
  // Decoders do not compare the length if the last block is empty.
  if (!Buffer.from(header).equals(zstdFrameHeader(target.length))) return false;
  const start = dictionary.reduce((sum, { length }) => sum + length, 0);
  const bytes = start + target.length;
  const blocks = [...dictionary.flatMap(rawBlocks), dcz.subarray(DCZ_HEADER_BYTES)];
  const frame = concatenate([zstdFrameHeader(bytes), ...blocks]);
  try {
    const decoded = decodeZstd(frame, bytes);
    const isSame = decoded.subarray(start).equals(target);
    releaseBuffer(decoded);
    return isSame;
  } catch {
    return false;
  } finally {
    releaseBuffer(frame);
  }
}

function zstdFrameHeader(bytes: number): Uint8Array {
  const header = new Uint8Array(ZSTD_HEADER_BYTES);
  header.set(FRAME_START);
  new DataView(header.buffer).setUint32(FRAME_START.length, bytes, true);
  return header;
}

/** Types of blocks (RFC 8878, section 3.1.1.2.2). */
const RAW = 0;
const COMPRESSED = 2;

function blockHeader(type: number, bytes: number, isLast = false): Uint8Array {
  const header = (bytes << 3) | (type << 1) | Number(isLast);
  return Uint8Array.of(header, header >> 8, header >> 16);
}

export const LAST_BLOCK = blockHeader(RAW, 0, true);

/** Encodes bytes as they are. */
export function rawBlocks(bytes: Uint8Array): Uint8Array[] {
  const blocks: Uint8Array[] = [];
  for (let at = 0; at < bytes.length; at += BLOCK_MAX_BYTES) {
    const part = bytes.subarray(at, at + BLOCK_MAX_BYTES);
    blocks.push(blockHeader(RAW, part.length), part);
  }
  return blocks;
}

/** Copies from a distance, which all parts of a copy share. */
function copyBlocks(distance: number, bytes: number): Uint8Array[] {
  const blocks: Uint8Array[] = [];
  for (let left = bytes; left > 0;) {
    const rest = left - BLOCK_MAX_BYTES;
    // Leaves enough for another block.
    const part = rest > 0 && rest < MATCH_MIN_BYTES ? left - MATCH_MIN_BYTES : left;
    const length = Math.min(part, BLOCK_MAX_BYTES);
    const content = copyBlock(distance, length);
    blocks.push(blockHeader(COMPRESSED, content.length), content);
    left -= length;
  }
  return blocks;
}

/** No literals; one sequence; each of the three codes as `RLE_Mode`; no literals before the match. */
const COPY_START = [0, 1, 0b01_01_01_00, 0];

/** Encodes one sequence without literals (RFC 8878, section 3.1.1.3.2). */
function copyBlock(distance: number, bytes: number): Uint8Array {
  // Offset 1 to 3 repeat earlier ones, and match lengths start at 3.
  const [offset, length] = [distance + 3, bytes - 3];
  const [offsetCode, lengthBits] = [log2(offset), log2(length)];
  const codes = [...COPY_START, offsetCode, lengthBits + 36];
  // The decoder reads from the last bit, which is 1, and the offset before the length. The code
  // of each already has its highest bit; the highest bit of the offset serves as the last bit.
  let bits = offset * 2 ** lengthBits + (length - 2 ** lengthBits);
  for (; bits >= 1; bits = Math.floor(bits / 256)) codes.push(bits % 256);
  return Uint8Array.from(codes);
}

function log2(value: number): number {
  return 31 - Math.clz32(value);
}
