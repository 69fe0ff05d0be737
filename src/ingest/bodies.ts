import { Buffer } from "node:buffer";
import { concatenate, lengthOf, releaseBuffer, sha256Hex } from "../catalog/bytes.ts";
import type { EncodedPart, Form } from "../catalog/encode.ts";
import {
  type Bodies,
  type Body,
  type Coding,
  CODINGS,
  DELTA_FORMS,
  type DeltaForm,
  type OwnParts,
  type Representation,
  REPRESENTATIONS,
  type Segment,
  type StoredSegment,
} from "../catalog/manifest.ts";
import {
  FRAME_HEADER_BYTES,
  messageFrameHeader,
  SUCCESS_TRAILER_FRAME,
} from "../catalog/framing.ts";
import { memoize } from "../platform/once.ts";
import { node } from "../platform/node.ts";
import { encodeBlocks } from "./own-blocks.ts";
import { type CompressionTask, compressSegment, segmentCoder } from "./segment-coders.ts";

/** An uncompressed body is `head ++ common ++ local ++ tail`. All locales share `common`. */
interface Surroundings {
  /** A few bytes. */
  readonly head: Uint8Array;
  readonly local: Uint8Array;
  /** A few bytes. */
  readonly tail: Uint8Array;
}

const NO_BYTES = new Uint8Array();
/**
 * Number of bytes of the common part in the head. Base64 encodes groups of three bytes; shifting
 * the boundaries to such groups makes the common segment the same in all locales.
 */
const BYTES_IN_HEAD = (3 - (FRAME_HEADER_BYTES % 3)) % 3;

/** Returns the form of the encoded parts of a representation. */
export function formOf(representation: Representation): Form {
  return representation === "json" || representation === "grpc-web-json" ? "json" : "proto";
}

/** Returns the length of the head in bytes, which is the same in all locales. */
export function headLength(representation: Representation): number {
  return surround(representation, new Uint8Array(3), NO_BYTES).head.length;
}

/** Makes the common segment from the common part in the representation's form. */
export function commonSegment(representation: Representation, common: Uint8Array): Uint8Array {
  if (representation !== "grpc-web-text") return common;
  return base64Bytes(common.subarray(BYTES_IN_HEAD, endInBase64(common)));
}

/** Makes the parts around the common segment for one locale. */
export function surround(
  representation: Representation,
  common: Uint8Array,
  local: Uint8Array,
): Surroundings {
  switch (representation) {
    case "proto":
    case "json":
      return { head: NO_BYTES, local, tail: NO_BYTES };
    case "grpc-web":
    case "grpc-web-json":
      return framed(common, local);
    case "grpc-web-text":
      return base64(common, framed(common, local));
    default:
      return representation satisfies never;
  }
}

function framed(common: Uint8Array, local: Uint8Array): Surroundings {
  const head = messageFrameHeader(common.length + local.length);
  return { head, local, tail: SUCCESS_TRAILER_FRAME };
}

/** Encodes the whole in base64, with padding only at the end. */
function base64(common: Uint8Array, { head, local, tail }: Surroundings): Surroundings {
  const rest = concatenate([common.subarray(endInBase64(common)), local]);
  const cut = rest.length - (rest.length % 3);
  return {
    head: base64Bytes(concatenate([head, common.subarray(0, BYTES_IN_HEAD)])),
    local: base64Bytes(rest.subarray(0, cut)),
    tail: base64Bytes(concatenate([rest.subarray(cut), tail])),
  };
}

/** Returns the offset in the common part where its own segment ends. */
function endInBase64({ length }: Uint8Array): number {
  return length - ((length - BYTES_IN_HEAD) % 3);
}

function base64Bytes(bytes: Uint8Array): Uint8Array {
  const { buffer, byteOffset, length } = bytes;
  return new TextEncoder().encode(Buffer.from(buffer, byteOffset, length).toString("base64"));
}

/** Bytes with their SHA-256 (hex), which is their key in the stores. */
export interface HashedBlob {
  readonly sha256: string;
  readonly bytes: Uint8Array;
}

/** A representation and coding of the common segment. */
export interface CommonUnit {
  readonly representation: Representation;
  readonly coding: Coding;
}

export interface BodyDependencies {
  /** Reads the stored common segment of a unit. */
  readonly common: (unit: CommonUnit) => Promise<HashedBlob>;
  /** Compresses a segment of the locale. */
  readonly compress: (task: Omit<CompressionTask, "effort">) => Promise<Uint8Array>;
  /**
   * Stores the locale's own blobs, each once. `encodeBodies` calls it for each representation,
   * after it has proved its bodies and before it encodes the next.
   */
  readonly store: (blobs: readonly HashedBlob[]) => Promise<void>;
}

/**
 * Lists every representation and coding with a common segment in this runtime. The uncompressed
 * ones come first, because the others are made from them.
 */
export function commonUnits(): CommonUnit[] {
  const codings = CODINGS.filter((coding) => segmentCoder(coding) !== undefined);
  return codings
    .toSorted((a, b) => Number(b === "identity") - Number(a === "identity"))
    .flatMap((coding) => REPRESENTATIONS.map((representation) => ({ representation, coding })));
}

/**
 * Proves a compressed common segment once for all locales: behind a head it decodes to its input.
 *
 * @throws Error if it does not.
 */
export function proveCommon(
  { representation, coding }: CommonUnit,
  segment: Uint8Array,
  input: Uint8Array,
): void {
  const head = new Uint8Array(headLength(representation));
  proveJoin({ representation, coding }, [head, input, NO_BYTES, NO_BYTES], segment, NO_BYTES);
}

/**
 * Encodes every body of one locale, and proves each compressed one without its common segment, which
 * `proveCommon` has proved. Keeps the bodies of one representation in memory at a time.
 *
 * @throws Error if a body does not decode to its input, and any rejection of `deps`.
 */
export async function encodeBodies(local: EncodedPart, deps: BodyDependencies): Promise<Bodies> {
  const stored = new Set<string>();
  const entries: [Representation, Bodies[Representation]][] = [];
  const compress = gzipOnce(deps.compress);
  for (const representation of REPRESENTATIONS) {
    const { codings, blobs } = await encodeCodings(representation, local, { ...deps, compress });
    await deps.store([...blobs.values()].filter(({ sha256 }) => !stored.has(sha256)));
    for (const sha256 of blobs.keys()) stored.add(sha256);
    entries.push([representation, codings]);
  }
  return Object.fromEntries(entries) as Bodies; // one entry for each of REPRESENTATIONS
}

/** Encodes and stores the locale's own part for browsers that have the rest. */
export async function encodeOwn(
  local: EncodedPart,
  { compress, store }: Pick<BodyDependencies, "compress" | "store">,
): Promise<OwnParts> {
  const own: { [F in DeltaForm]?: StoredSegment } = {};
  for (const form of DELTA_FORMS) {
    const blocks = await encodeBlocks(local[form], (bytes) =>
      compress({ bytes, coding: "zstd", offset: 0 }),
    );
    if (blocks === undefined) continue;
    const blob = hashBlob(blocks);
    await store([blob]);
    own[form] = toSegment(blob);
  }
  return own;
}

/** Compresses the same bytes with gzip once: its segments do not depend on their offset. */
function gzipOnce(compress: BodyDependencies["compress"]): BodyDependencies["compress"] {
  const compressed = new Map<Uint8Array, Uint8Array>();
  return async (task) => {
    const bytes = (task.coding === "gzip" && compressed.get(task.bytes)) || (await compress(task));
    if (task.coding === "gzip") compressed.set(task.bytes, bytes);
    return bytes;
  };
}

async function encodeCodings(
  representation: Representation,
  local: EncodedPart,
  deps: BodyDependencies,
): Promise<{ codings: Bodies[Representation]; blobs: ReadonlyMap<string, HashedBlob> }> {
  const form = formOf(representation);
  const part = await deps.common({ representation: form, coding: "identity" });
  const shared = await deps.common({ representation, coding: "identity" });
  const around = surround(representation, part.bytes, local[form]);
  const plain = [around.head, shared.bytes, around.local, around.tail];
  const codings: { [C in Coding]?: Body } = {};
  const blobs = new Map<string, HashedBlob>();
  for (const coding of CODINGS) {
    if (segmentCoder(coding) === undefined) continue;
    const { body, localBlob } = await encodeBody(
      { representation, coding },
      { around, plain },
      deps,
    );
    blobs.set(localBlob.sha256, localBlob);
    codings[coding] = body;
  }
  return { codings, blobs };
}

/** @param input `around` as it is, and with the common segment, uncompressed and in order. */
async function encodeBody(
  unit: CommonUnit,
  input: { readonly around: Surroundings; readonly plain: readonly Uint8Array[] },
  { common, compress }: BodyDependencies,
): Promise<{ body: Body; localBlob: HashedBlob }> {
  const { coding } = unit;
  const coder = coderOf(coding);
  const { head, local, tail } = input.around;
  const end = lengthOf(input.plain) - tail.length;
  const offset = end - local.length;
  const shared = await common(unit);
  const localBlob = hashBlob(
    coding === "identity" ? local : await compress({ bytes: local, coding, offset }),
  );
  const [open, close] = [coder.open(head), coder.close(tail, end, input.plain)];
  const sent = [open, shared.bytes, localBlob.bytes, close];
  if (coding !== "identity") {
    const zeros = new Uint8Array(coding === "br" ? offset - head.length : 0);
    const blank = coding === "br" ? blankBrotli(`${head.length} ${zeros.length}`) : NO_BYTES;
    proveJoin(unit, [head, zeros, local, tail], blank, localBlob.bytes);
  }
  const body: Body = {
    sha256: sha256Hex(...sent),
    bytes: lengthOf(sent),
    segments: [
      ...inlineSegments(open),
      toSegment(shared),
      toSegment(localBlob),
      ...inlineSegments(close),
    ],
  };
  return { body, localBlob };
}

function coderOf(coding: Coding) {
  const coder = segmentCoder(coding);
  if (coder === undefined) throw new Error(`this runtime cannot join ${coding} segments`);
  return coder;
}

/**
 * Zeros in the place of a common segment in brotli, whose segments know their position; those of gzip do
 * not. A segment that decodes behind them refers to no common byte. The text has offset and length.
 */
const blankBrotli = memoize((text) => {
  const [offset = 0, length = 0] = text.split(" ").map(Number);
  return compressSegment({ bytes: new Uint8Array(length), coding: "br", offset, effort: "fast" });
});

/** Proves that the first and the last part around two segments decode to all four parts. */
function proveJoin(
  { representation, coding }: CommonUnit,
  plain: readonly [head: Uint8Array, common: Uint8Array, local: Uint8Array, tail: Uint8Array],
  common: Uint8Array,
  local: Uint8Array,
): void {
  const coder = coderOf(coding);
  const [head, , , tail] = plain;
  const open = coder.open(head);
  const close = coder.close(tail, lengthOf(plain) - tail.length, plain);
  const encoded = concatenate([open, common, local, close]);
  const decoded =
    coding === "gzip" ? node.zlib.gunzipSync(encoded) : node.zlib.brotliDecompressSync(encoded);
  const expected = concatenate(plain);
  const isSame = decoded.equals(expected);
  for (const bytes of [encoded, decoded, expected]) releaseBuffer(bytes);
  if (!isSame) throw new Error(`${representation} in ${coding} does not decode to its input`);
}

/** Makes a segment within the manifest itself; none for no bytes. */
function inlineSegments(bytes: Uint8Array): Segment[] {
  return bytes.length === 0 ? [] : [{ inline: Buffer.from(bytes).toString("base64") }];
}

/** Makes the manifest's reference to a blob. */
export function toSegment({ sha256, bytes }: HashedBlob): StoredSegment {
  return { blob: sha256, bytes: bytes.length };
}

/** Hashes bytes. */
export function hashBlob(bytes: Uint8Array): HashedBlob {
  return { sha256: sha256Hex(bytes), bytes };
}
