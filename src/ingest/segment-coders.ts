/**
 * Content codings with concatenable output. A body consists of segments that are compressed
 * separately and joined for sending.
 *
 * - gzip (RFC 1952): each segment ends with a sync flush (an empty stored block, RFC 1951 section
 *   3.2.3). It therefore ends on a byte boundary and refers to no earlier byte.
 * - brotli (RFC 7932): the encoder receives the offset of the segment in the body
 *   (`BROTLI_PARAM_STREAM_OFFSET` of google/brotli's encode.h). It therefore omits the stream
 *   header and refers to no earlier byte. A flush ends the segment.
 */
import { Buffer } from "node:buffer";
import { concatenate, lengthOf } from "../catalog/bytes.ts";
import type { Coding } from "../catalog/manifest.ts";
import { node } from "../platform/node.ts";

const {
  brotliCompressSync,
  brotliDecompressSync,
  constants,
  crc32,
  createZstdCompress,
  deflateRawSync,
} = node.zlib;

/**
 * Compression effort. `best` is the maximum of each coding. `fast` takes a hundredth of the time and
 * makes bodies in brotli half as long again, those in gzip a tenth longer.
 */
const EFFORTS = {
  fast: { brotliQuality: 1, gzipLevel: 1, zstdLevel: 3 },
  best: { brotliQuality: 11, gzipLevel: 9, zstdLevel: 19 },
} as const;
export type Effort = keyof typeof EFFORTS;

/** Encodes a body as `open ++ middle ++ … ++ close`. Offsets count uncompressed bytes. */
interface SegmentCoder {
  /** Encodes the first bytes. The result is empty if `bytes` is and the coding has no header. */
  open(bytes: Uint8Array): Uint8Array;
  middle(bytes: Uint8Array, offset: number, effort: Effort): Uint8Array;
  /** Encodes the last bytes. The parts of `plain` join to the whole body before compression. */
  close(bytes: Uint8Array, offset: number, plain: readonly Uint8Array[]): Uint8Array;
}

const identity: SegmentCoder = {
  open: (bytes) => bytes,
  middle: (bytes) => bytes,
  close: (bytes) => bytes,
};

/** Header of a gzip member: deflate, no flags, no time, unknown system (RFC 1952, section 2.3). */
const GZIP_HEADER = Uint8Array.of(0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff);

const gzip: SegmentCoder = {
  open: (bytes) => concatenate([GZIP_HEADER, deflate(bytes, 9, constants.Z_SYNC_FLUSH)]),
  middle: (bytes, _offset, effort) =>
    deflate(bytes, EFFORTS[effort].gzipLevel, constants.Z_SYNC_FLUSH),
  close(bytes, _offset, plain) {
    const trailer = new DataView(new ArrayBuffer(8));
    trailer.setUint32(
      0,
      plain.reduce((checksum, part) => crc32(part, checksum), 0),
      true,
    );
    trailer.setUint32(4, lengthOf(plain), true);
    return concatenate([deflate(bytes, 9, constants.Z_FINISH), new Uint8Array(trailer.buffer)]);
  },
};

function deflate(bytes: Uint8Array, level: number, finishFlush: number): Uint8Array {
  return deflateRawSync(bytes, { level, finishFlush });
}

/**
 * For the few bytes at the edges of a body, which no quality makes fewer. A higher one makes tables of
 * megabytes first.
 */
const EDGE_QUALITY = 1;

function brotli(windowBits: number): SegmentCoder {
  const compressed = (bytes: Uint8Array, offset: number, quality: number, finishFlush: number) => {
    const params = {
      [constants.BROTLI_PARAM_QUALITY]: quality,
      [constants.BROTLI_PARAM_LGWIN]: windowBits,
      [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length,
      ...(offset > 0 && { [BROTLI_PARAM_STREAM_OFFSET]: offset }),
    };
    return brotliCompressSync(bytes, { params, finishFlush });
  };
  // Keeps empty input empty, or two segments would begin at offset 0, each with a stream header.
  const flushed = (bytes: Uint8Array, offset: number, quality: number) =>
    bytes.length === 0
      ? bytes
      : compressed(bytes, offset, quality, constants.BROTLI_OPERATION_FLUSH);
  return {
    open: (bytes) => flushed(bytes, 0, EDGE_QUALITY),
    middle: (bytes, offset, effort) => flushed(bytes, offset, EFFORTS[effort].brotliQuality),
    close: (bytes, offset) =>
      compressed(bytes, offset, EDGE_QUALITY, constants.BROTLI_OPERATION_FINISH),
  };
}

/** In google/brotli since 1.0.8. `node:zlib` does not name it, and Node 24 refuses it. */
const BROTLI_PARAM_STREAM_OFFSET = 9;
/** The encoder takes no smaller window at quality 1, and all segments of a body need the same. */
const SMALLEST_WINDOW_BITS = 18;
const LARGEST_WINDOW_BITS = 22;

/**
 * Returns the size of brotli's window, as a power of two, for a body with a common segment of so many
 * bytes: the largest one that ends within it. Once the window is full (2^bits - 16 bytes, RFC 7932,
 * section 9.1), each word of the dictionary has one distance, so a locale's segments decode behind any
 * common segment of at least that length. The catalog in brotli is a quarter of a percent longer than
 * with the largest window.
 */
export function windowBitsFor(commonBytes: number): number {
  const bits = Math.floor(Math.log2(commonBytes));
  return Math.max(SMALLEST_WINDOW_BITS, Math.min(LARGEST_WINDOW_BITS, bits));
}

/**
 * Returns the coder of a coding.
 *
 * @throws Error if this runtime cannot make joinable segments.
 */
export function segmentCoder(coding: Coding, windowBits: number): SegmentCoder {
  if (!canJoin(coding)) throw new Error(`this runtime cannot join ${coding} segments`);
  switch (coding) {
    case "identity":
      return identity;
    case "gzip":
      return gzip;
    case "br":
      return brotli(windowBits);
    default:
      return coding satisfies never;
  }
}

/** Whether this runtime makes joinable segments of a coding. */
export function canJoin(coding: Coding): boolean {
  if (coding !== "br") return true;
  brotliJoins ??= tryBrotli();
  return brotliJoins;
}

let brotliJoins: boolean | undefined;

/** Whether this runtime's encoder accepts a stream offset, by an attempt on a few bytes. */
function tryBrotli(): boolean {
  const coder = brotli(SMALLEST_WINDOW_BITS);
  const text = new TextEncoder().encode("the name of the airport and the name of the city");
  const twice = [text, text];
  try {
    const joined = [
      coder.middle(text, 0, "fast"),
      coder.middle(text, text.length, "fast"),
      coder.close(new Uint8Array(), lengthOf(twice), twice),
    ];
    return brotliDecompressSync(concatenate(joined)).equals(concatenate(twice));
  } catch {
    return false;
  }
}

/** Bytes to compress. */
export interface CompressionTask {
  readonly bytes: Uint8Array;
  /** `zstd` for a whole frame, otherwise a segment. */
  readonly coding: SegmentTask["coding"] | "zstd";
  /** Number of uncompressed bytes before them in the body. */
  readonly offset: number;
  /** As `windowBitsFor` says for the body; only brotli has it. */
  readonly windowBits: number;
  readonly effort: Effort;
}

/** A segment to compress. */
export interface SegmentTask extends CompressionTask {
  readonly coding: Exclude<Coding, "identity">;
}

/** Compresses bytes, deterministically. Takes up to several seconds of CPU time. */
export async function compress({ coding, ...task }: CompressionTask): Promise<Uint8Array> {
  return coding === "zstd" ? compressFrame(task) : compressSegment({ ...task, coding });
}

export function compressSegment({ coding, windowBits, ...task }: SegmentTask): Uint8Array {
  return segmentCoder(coding, windowBits).middle(task.bytes, task.offset, task.effort);
}

/**
 * Compresses bytes to a Zstandard frame (RFC 8878), in one piece: workerd loses all but the first, and
 * fails to compress without a stream (seen in 1.20261023).
 */
async function compressFrame({
  bytes,
  effort,
}: Pick<CompressionTask, "bytes" | "effort">): Promise<Uint8Array> {
  const params = { [constants.ZSTD_c_compressionLevel]: EFFORTS[effort].zstdLevel };
  const chunkSize = bytes.length + (bytes.length >> 8) + FRAME_SPARE_BYTES; // ZSTD_compressBound
  const stream = createZstdCompress({ params, chunkSize });
  stream.end(bytes);
  return Buffer.concat(await stream.toArray());
}

/** More than the bound adds for short input. */
const FRAME_SPARE_BYTES = 1024;
