/**
 * Compresses parts so that they can be joined in a body, and proves it.
 *
 * - gzip (RFC 1952): a part ends with a sync flush (an empty stored block, RFC 1951 section 3.2.3). It
 *   therefore ends on a byte boundary and refers to no earlier byte.
 * - brotli (RFC 7932): the encoder receives the position of the part in the body
 *   (`BROTLI_PARAM_STREAM_OFFSET` of google/brotli's encode.h). It therefore omits the stream header
 *   and refers to no earlier byte. A flush ends the part.
 */
import type { Buffer } from "node:buffer";
import { concatenate, lengthOf, releaseBuffer } from "../catalog/bytes.ts";
import { memoize } from "../platform/once.ts";
import { node } from "../platform/node.ts";
import { EDGES, windowBitsFor } from "./compose.ts";
import { FRAME_HEADER_BYTES, SUCCESS_TRAILER_FRAME } from "./framing.ts";
import type { Coding } from "./manifest.ts";

const { brotliCompressSync, brotliDecompressSync, constants, crc32, deflateRawSync, gunzipSync } =
  node.zlib;

/**
 * Compression effort. `best` is the maximum of each coding. `fast` takes a hundredth of the time and
 * makes bodies in brotli half as long again, those in gzip a tenth longer.
 */
const EFFORTS = {
  fast: { brotliQuality: 1, gzipLevel: 1, wholeQuality: 5 },
  best: { brotliQuality: 11, gzipLevel: 9, wholeQuality: 11 },
} as const;
export type Effort = keyof typeof EFFORTS;

export type Compression = Exclude<Coding, "identity">;

export interface CompressionInput {
  readonly bytes: Uint8Array;
  readonly coding: Compression;
  /** Number of bytes before the part in the body, without a coding. */
  readonly offset: number;
  /** As `windowBitsFor` says for the body; only brotli has it. */
  readonly windowBits: number;
  readonly effort: Effort;
}

/** Compresses a part, deterministically. Takes up to several seconds of CPU time. */
export function compressPart({ coding, ...task }: CompressionInput): Uint8Array<ArrayBuffer> {
  return coding === "gzip" ? deflate(task) : brotli(task);
}

function deflate({ bytes, effort }: Omit<CompressionInput, "coding">): Uint8Array<ArrayBuffer> {
  const level = EFFORTS[effort].gzipLevel;
  return deflateRawSync(bytes, { level, finishFlush: constants.Z_SYNC_FLUSH });
}

function brotli({
  bytes,
  offset,
  windowBits,
  effort,
}: Omit<CompressionInput, "coding">): Uint8Array<ArrayBuffer> {
  const params = {
    [constants.BROTLI_PARAM_QUALITY]: EFFORTS[effort].brotliQuality,
    [constants.BROTLI_PARAM_LGWIN]: windowBits,
    [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length,
    ...(offset > 0 && { [BROTLI_PARAM_STREAM_OFFSET]: offset }),
  };
  return brotliCompressSync(bytes, { params, finishFlush: constants.BROTLI_OPERATION_FLUSH });
}

/** In google/brotli since 1.0.8. `node:zlib` does not name it, and Node 24 refuses it. */
const BROTLI_PARAM_STREAM_OFFSET = 9;

/** Whether this runtime makes parts in a coding that can be joined. */
export function canJoin(coding: Coding): boolean {
  if (coding !== "br") return true;
  brotliJoins ??= tryBrotli();
  return brotliJoins;
}

let brotliJoins: boolean | undefined;

/** Whether this runtime's encoder accepts a stream offset, by an attempt on a few bytes. */
function tryBrotli(): boolean {
  const bytes = new TextEncoder().encode("the name of the airport and the name of the city");
  try {
    const made = compressPart({ bytes, coding: "br", offset: 5, windowBits: 18, effort: "fast" });
    return provesShared({ coding: "br", isInFrame: true }, made, bytes);
  } catch {
    return false;
  }
}

/** A compressed shared part: at the start of a body, or after the header of a frame. */
export interface SharedUnit {
  readonly coding: Compression;
  readonly isInFrame: boolean;
}

/** Whether a compressed shared part decodes to its input in its place. */
export function provesShared(
  { coding, isInFrame }: SharedUnit,
  part: Uint8Array,
  input: Uint8Array,
): boolean {
  const head = new Uint8Array(isInFrame ? FRAME_HEADER_BYTES : 0);
  return decodesTo(coding, [part], { head, plain: [input], sharedBytes: input.length });
}

export interface LocalePartInput {
  readonly bytes: Uint8Array;
  /** Length of the shared part before it, without a coding. */
  readonly sharedBytes: number;
}

/**
 * Whether a compressed locale part decodes to its input after any shared part. In brotli, only the
 * length of the shared part matters, until it fills the window.
 */
export function provesLocalePart(
  coding: Compression,
  part: Uint8Array,
  { bytes, sharedBytes }: LocalePartInput,
): boolean {
  if (coding === "gzip")
    return decodesTo(coding, [part], { head: NO_BYTES, plain: [bytes], sharedBytes });
  const windowBits = windowBitsFor(sharedBytes);
  const length = Math.min(sharedBytes, 2 ** windowBits);
  const offsets = length < sharedBytes ? [0] : [0, FRAME_HEADER_BYTES];
  return offsets.every((offset) => {
    const foreign = foreignPart(`${offset} ${length} ${windowBits}`);
    const plain = [foreignBytes(length), bytes];
    return decodesTo(coding, [foreign, part], { head: new Uint8Array(offset), plain, sharedBytes });
  });
}

/** Compressed foreign bytes in place of a shared part. The text has offset, length and window. */
const foreignPart = memoize((text) => {
  const [offset = 0, length = 0, windowBits = 0] = text.split(" ").map(Number);
  const bytes = foreignBytes(length);
  return compressPart({ bytes, coding: "br", offset, windowBits, effort: "fast" });
});

/** No part contains these bytes: they are not UTF-8, and lengths are short. */
function foreignBytes(length: number): Uint8Array {
  return new Uint8Array(length).fill(0xff);
}

const NO_BYTES = new Uint8Array();

interface Plain {
  readonly head: Uint8Array<ArrayBuffer>;
  /** What the parts decode to. */
  readonly plain: readonly Uint8Array[];
  readonly sharedBytes: number;
}

/** Whether parts decode to their input between the edges that they have in a body. */
function decodesTo(
  coding: Compression,
  parts: readonly Uint8Array[],
  { head, plain, sharedBytes }: Plain,
): boolean {
  const tail = SUCCESS_TRAILER_FRAME;
  const whole = [head, ...plain, tail];
  const bytes = lengthOf(whole);
  const [open, close] = EDGES[coding]({ head, tail, sharedBytes, bytes, crc32: crc32Of(whole) });
  const decoded = decode(coding, concatenate([open, ...parts, close]));
  let start = 0;
  const isSame = whole.every((part) =>
    decoded?.subarray(start, (start += part.length)).equals(part),
  );
  const isWhole = decoded?.length === bytes;
  if (decoded !== undefined) releaseBuffer(decoded);
  return isSame && isWhole;
}

/** Returns undefined for bytes in another coding. */
function decode(coding: Compression, bytes: Uint8Array): Buffer | undefined {
  try {
    return coding === "gzip" ? gunzipSync(bytes) : brotliDecompressSync(bytes);
  } catch {
    return undefined;
  } finally {
    releaseBuffer(bytes);
  }
}

/** Compresses bytes in brotli that are sent as they are stored. */
export function compressWhole(bytes: Uint8Array, effort: Effort): Uint8Array<ArrayBuffer> {
  const params = {
    [constants.BROTLI_PARAM_QUALITY]: EFFORTS[effort].wholeQuality,
    [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length,
  };
  return brotliCompressSync(bytes, { params });
}

/** Returns undefined for bytes that are not in brotli. */
export function decompressWhole(bytes: Uint8Array): Buffer<ArrayBuffer> | undefined {
  try {
    return brotliDecompressSync(bytes);
  } catch {
    return undefined;
  }
}

export function crc32Of(parts: readonly Uint8Array[]): number {
  return parts.reduce((checksum, part) => crc32(part, checksum), 0);
}
