import { Buffer } from "node:buffer";
import { createHash } from "node:crypto";
import { pipeline } from "node:stream/promises";
import { createBrotliDecompress, createGunzip, crc32 } from "node:zlib";
import { concatenate, isSameRun, letGo } from "../catalog/bytes.ts";
import type { EncodedPart } from "../catalog/encode.ts";
import { sha256Hex } from "../catalog/hash.ts";
import {
  type Bodies,
  type Body,
  type Coding,
  CODINGS,
  type Representation,
  REPRESENTATIONS,
  type Segment,
} from "../catalog/manifest.ts";
import {
  type CommonEnds,
  commonLength,
  formOf,
  headLength,
  surround,
  type Surroundings,
} from "./plain-segments.ts";
import {
  brotliWhole,
  type Checksum,
  type Effort,
  ONE_AT_A_TIME,
  segmentCoder,
} from "./segment-coders.ts";

/** As hard as there is: every answer has the bytes that seconds of an ingest do not save. */
export const SEGMENT_EFFORT: Effort = { brotliQuality: 11, gzipLevel: 9 };
/** For a whole body of each locale, where segments do not join: 11 would take many seconds for each. */
const WHOLE_BROTLI_QUALITY = 9;
/**
 * Longest piece of a common segment, uncompressed. Today's world is one piece in every
 * representation; a larger one takes more of them, and no more memory.
 */
export const COMMON_PIECE_BYTES = 4 * 1024 * 1024;
/** As many as `CommonEnds` wants of either end. */
const END_BYTES = 2;
/** What a decoder gives at a time. */
const DECODED_CHUNK_BYTES = 256 * 1024;

/** Bytes to be stored under their own SHA-256 (hex). */
export interface Blob {
  readonly sha256: string;
  readonly bytes: Uint8Array;
}

type Compressed = Exclude<Coding, "identity">;

/** One of the ways in which the common part goes out. */
export interface CommonUnit {
  readonly representation: Representation;
  readonly coding: Coding;
}

interface CompressedUnit extends CommonUnit {
  readonly coding: Compressed;
}

/** A stored piece of a common segment. */
export interface CommonPiece {
  /** SHA-256 (hex) of its bytes. */
  readonly blob: string;
  readonly bytes: number;
}

/** The common segments as they are stored. */
export interface StoredCommon {
  /** The pieces of a unit, in order. */
  pieces(unit: CommonUnit): readonly CommonPiece[];
  read(piece: CommonPiece): Promise<Uint8Array>;
  /** To be called with what was read when nobody reads it any more. */
  letGo(piece: CommonPiece, bytes: Uint8Array): void;
}

/**
 * Every pair of a representation and a coding that has a common segment in this runtime. The
 * uncompressed ones come first: the others are made of them.
 */
export function commonUnits(): CommonUnit[] {
  const codings = CODINGS.filter((coding) => segmentCoder(coding) !== undefined);
  return codings
    .toSorted((a, b) => Number(b === "identity") - Number(a === "identity"))
    .flatMap((coding) => REPRESENTATIONS.map((representation) => ({ representation, coding })));
}

/** Pieces of a unit, for a common part of so many bytes in each form. */
export function countPieces(
  { representation }: CommonUnit,
  commonBytes: { readonly proto: number; readonly json: number },
): number {
  const length = commonLength(representation, commonBytes[formOf(representation)]);
  return Math.ceil(length / COMMON_PIECE_BYTES);
}

/** Compresses one piece of a common segment, `offset` bytes from its beginning. */
export function compressPiece(unit: CommonUnit, piece: Uint8Array, offset: number): Blob {
  const coder = segmentCoder(unit.coding);
  if (coder === undefined) throw new Error(`segments of ${unit.coding} do not join here`);
  return toBlob(coder.middle(piece, headLength(unit.representation) + offset, SEGMENT_EFFORT));
}

/**
 * Encodes every body of one locale, and decodes each compressed one again to prove that it says
 * what was meant. Holds the blobs of one representation at a time, and of what is common a piece,
 * encoded and decoded.
 *
 * @param store is given this locale's own blobs, none of them twice: those of one representation
 *   when its bodies are proved, and before the next is encoded.
 * @returns the bodies.
 * @throws Error if a body does not decode to what was encoded; what `store` rejects with.
 */
export async function encodeBodies(
  local: EncodedPart,
  common: StoredCommon,
  store: (blobs: readonly Blob[]) => Promise<void>,
): Promise<Bodies> {
  const stored = new Set<string>();
  const entries: [Representation, Bodies[Representation]][] = [];
  for (const representation of REPRESENTATIONS) {
    const form = formOf(representation);
    const part = common.pieces({ representation: form, coding: "identity" });
    const around = surround(representation, await readEnds(part, common), local[form]);
    const { codings, blobs } = await encodeCodings(representation, around, common);
    await store([...blobs.values()].filter(({ sha256 }) => !stored.has(sha256)));
    for (const sha256 of blobs.keys()) stored.add(sha256);
    entries.push([representation, codings]);
  }
  return Object.fromEntries(entries) as Bodies; // one entry for each of REPRESENTATIONS
}

async function encodeCodings(
  representation: Representation,
  around: Surroundings,
  common: StoredCommon,
): Promise<{ codings: Bodies[Representation]; blobs: ReadonlyMap<string, Blob> }> {
  const own = toBlob(around.local);
  const shared = common.pieces({ representation, coding: "identity" });
  const plain: Part[] = [around.head, ...shared, own, around.tail];
  const digest = await readThrough(bytesOf(plain, common));
  const codings: { [C in Coding]?: Body } = {};
  const blobs = new Map([[own.sha256, own]]);
  for (const coding of CODINGS) {
    if (coding === "identity") {
      codings[coding] = toBody(digest, plain);
      continue;
    }
    const unit = { representation, coding };
    const encoded = await encodeParts({ unit, around, plain, digest }, common);
    const bytes = bytesOf(encoded.parts, common);
    const sent = await prove(unit, { bytes, plain: bytesOf(plain, common) });
    blobs.set(encoded.own.sha256, encoded.own);
    codings[coding] = toBody(sent, encoded.parts);
  }
  return { codings, blobs };
}

/** A run of a body: bytes for the manifest, this locale's own blob, or a piece that locales share. */
type Part = Uint8Array | Blob | CommonPiece;

interface Encoding {
  readonly unit: CompressedUnit;
  readonly around: Surroundings;
  /** The body, uncompressed. */
  readonly plain: readonly Part[];
  readonly digest: Digest & Checksum;
}

async function encodeParts(
  { unit, around, plain, digest }: Encoding,
  common: StoredCommon,
): Promise<{ parts: readonly Part[]; own: Blob }> {
  const coder = segmentCoder(unit.coding);
  if (coder === undefined) {
    const whole = { brotliQuality: WHOLE_BROTLI_QUALITY, length: digest.bytes };
    const own = toBlob(await brotliWhole(bytesOf(plain, common), whole));
    return { parts: [own], own };
  }
  const { head, local, tail } = around;
  const offset = digest.bytes - tail.length - local.length;
  const own = toBlob(coder.middle(local, offset, SEGMENT_EFFORT));
  const close = coder.close(tail, offset + local.length, digest);
  return { parts: [coder.open(head), ...common.pieces(unit), own, close], own };
}

/** SHA-256 (hex) and length of a run of bytes. */
type Digest = Pick<Body, "sha256" | "bytes">;

/** Decodes a body while its bytes pass, and gives the digest of what is sent. */
async function prove(
  { representation, coding }: CompressedUnit,
  { bytes, plain }: { bytes: AsyncIterable<Uint8Array>; plain: AsyncIterable<Uint8Array> },
): Promise<Digest> {
  const sent = new Digester();
  const passing = async function* () {
    for await (const piece of bytes) {
      sent.update(piece);
      yield piece;
    }
  };
  let isProven = false;
  await pipeline(passing(), newDecoder(coding), async (decoded: AsyncIterable<Uint8Array>) => {
    isProven = await isSameRun(inTurn(decoded), plain);
  });
  if (!isProven)
    throw new Error(`${representation} in ${coding} does not decode to what was encoded`);
  return sent.end();
}

/** For a reader that is done with a piece when it asks for the next one. */
async function* inTurn(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  for await (const piece of pieces) {
    yield piece;
    letGo(piece);
  }
}

function newDecoder(coding: Compressed) {
  // In object mode chunks are not joined before they are read.
  const options = { chunkSize: DECODED_CHUNK_BYTES, readableObjectMode: true, ...ONE_AT_A_TIME };
  return coding === "gzip" ? createGunzip(options) : createBrotliDecompress(options);
}

class Digester {
  readonly #hash = createHash("sha256");
  #bytes = 0;

  update(piece: Uint8Array): void {
    this.#hash.update(piece);
    this.#bytes += piece.length;
  }

  end(): Digest {
    return { sha256: this.#hash.digest("hex"), bytes: this.#bytes };
  }
}

async function readThrough(pieces: AsyncIterable<Uint8Array>): Promise<Digest & Checksum> {
  const digester = new Digester();
  let crc = 0;
  for await (const piece of pieces) {
    digester.update(piece);
    crc = crc32(piece, crc);
  }
  return { ...digester.end(), crc32: crc };
}

/** The bytes of parts, none of them empty, for a reader that is done with one when it asks for the next. */
async function* bytesOf(parts: readonly Part[], common: StoredCommon): AsyncGenerator<Uint8Array> {
  for (const part of parts)
    if (part instanceof Uint8Array || !("blob" in part)) {
      const { bytes } = part instanceof Uint8Array ? { bytes: part } : part;
      if (bytes.length > 0) yield bytes;
    } else {
      const bytes = await common.read(part);
      yield bytes;
      common.letGo(part, bytes);
    }
}

function toBody({ sha256, bytes }: Digest, parts: readonly Part[]): Body {
  return { sha256, bytes, segments: parts.flatMap(toSegment) };
}

/** A part as the manifest names it; nothing for an empty one. */
function toSegment(part: Part): Segment[] {
  if (!(part instanceof Uint8Array))
    return "blob" in part ? [part] : [{ blob: part.sha256, bytes: part.bytes.length }];
  return part.length === 0 ? [] : [{ inline: Buffer.from(part).toString("base64") }];
}

async function readEnds(pieces: readonly CommonPiece[], common: StoredCommon): Promise<CommonEnds> {
  const [first = { blob: "", bytes: 0 }] = pieces;
  let last: Uint8Array = new Uint8Array();
  for (const piece of pieces.toReversed()) {
    if (last.length >= END_BYTES) break;
    last = concatenate([await readSome(common, piece, -END_BYTES), last]);
  }
  const bytes = pieces.reduce((length, piece) => length + piece.bytes, 0);
  return { bytes, first: await readSome(common, first, 0, END_BYTES), last };
}

/** Some of a piece's bytes, as `slice` takes them. */
async function readSome(
  common: StoredCommon,
  piece: CommonPiece,
  ...range: [start: number, end?: number]
): Promise<Uint8Array> {
  const bytes = await common.read(piece);
  const some = bytes.slice(...range);
  common.letGo(piece, bytes);
  return some;
}

/** Bytes with their name. */
export function toBlob(bytes: Uint8Array): Blob {
  return { sha256: sha256Hex(bytes), bytes };
}
