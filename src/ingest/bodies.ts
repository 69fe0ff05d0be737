import { Buffer } from "node:buffer";
import type { Hash } from "node:crypto";
import {
  concatenate,
  inflateSegment,
  lengthOf,
  releaseBuffer,
  sha256Hex,
} from "../catalog/bytes.ts";
import type { EncodedPart } from "../catalog/encode.ts";
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
import { memoize } from "../platform/once.ts";
import { node } from "../platform/node.ts";
import { encodeBlocks } from "./own-blocks.ts";
import {
  canJoin,
  type CompressionTask,
  compressSegment,
  segmentCoder,
  windowBitsFor,
} from "./segment-coders.ts";
import { formOf, headLength, surround, type Surroundings } from "./surroundings.ts";

const NO_BYTES = new Uint8Array();

/** Bytes with their SHA-256 (hex), which is their key in the stores. */
export interface HashedBlob {
  readonly sha256: string;
  readonly bytes: Uint8Array;
}

/** Where a segment of a locale belongs. */
export type SegmentPlace =
  | { readonly representation: Representation; readonly coding: Exclude<Coding, "identity"> }
  | { readonly own: DeltaForm };

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
  /** Reads what the current version has in the place of a segment: if it passes the proof, it is taken. */
  readonly earlier: (place: SegmentPlace) => Promise<HashedBlob | null>;
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
export function commonUnits(): readonly CommonUnit[] {
  const codings = CODINGS.filter(canJoin);
  units ??= codings
    .toSorted((a, b) => Number(b === "identity") - Number(a === "identity"))
    .flatMap((coding) => REPRESENTATIONS.map((representation) => ({ representation, coding })));
  return units;
}

let units: readonly CommonUnit[] | undefined;

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
  const plain = [head, input, NO_BYTES, NO_BYTES] as const;
  const end = head.length + input.length;
  const windowBits = windowBitsFor(input.length);
  if (!joins(coding, { plain, common: segment, local: NO_BYTES, end, windowBits }))
    throw new NotDecodable(representation, coding);
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
  const made: MadeSegments = { gzip: new Map(), br: new Map() };
  for (const representation of REPRESENTATIONS) {
    const { codings, blobs } = await encodeCodings(representation, local, { ...deps, made });
    await deps.store([...blobs.values()].filter(({ sha256 }) => !stored.has(sha256)));
    for (const sha256 of blobs.keys()) stored.add(sha256);
    entries.push([representation, codings]);
  }
  return Object.fromEntries(entries) as Bodies; // one entry for each of REPRESENTATIONS
}

/** Encodes and stores the locale's own part for browsers that have the rest. */
export async function encodeOwn(
  local: EncodedPart,
  { compress, earlier, store }: Pick<BodyDependencies, "compress" | "earlier" | "store">,
): Promise<OwnParts> {
  const own: { [F in DeltaForm]?: StoredSegment } = {};
  for (const form of DELTA_FORMS) {
    const blocks = await encodeBlocks(
      local[form],
      (bytes) => compress({ bytes, coding: "zstd", offset: 0, windowBits: 0 }),
      (await earlier({ own: form }))?.bytes,
    );
    if (blocks === undefined) continue;
    const blob = hashBlob(blocks);
    await store([blob]);
    own[form] = toSegment(blob);
  }
  return own;
}

/** Compressed segments that decode behind any common segment, by their input. */
type MadeSegments = {
  readonly [C in Exclude<Coding, "identity">]: Map<Uint8Array, HashedBlob>;
};

interface LocaleDependencies extends BodyDependencies {
  readonly made: MadeSegments;
}

async function encodeCodings(
  representation: Representation,
  local: EncodedPart,
  deps: LocaleDependencies,
): Promise<{ codings: Bodies[Representation]; blobs: ReadonlyMap<string, HashedBlob> }> {
  const form = formOf(representation);
  const part = await deps.common({ representation: form, coding: "identity" });
  const shared = await deps.common({ representation, coding: "identity" });
  const around = surround(representation, part.bytes, local[form]);
  const plain = [around.head, shared.bytes, around.local, around.tail] as const;
  const codings: { [C in Coding]?: Body } = {};
  const blobs = new Map<string, HashedBlob>();
  for (const coding of CODINGS) {
    if (!canJoin(coding)) continue;
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
  input: { readonly around: Surroundings; readonly plain: Join["plain"] },
  deps: LocaleDependencies,
): Promise<{ body: Body; localBlob: HashedBlob }> {
  const { coding } = unit;
  const coder = segmentCoder(coding, windowBitsFor(input.plain[1].length));
  const { head, local, tail } = input.around;
  const end = lengthOf(input.plain) - tail.length;
  const shared = await deps.common(unit);
  // Without a coding it is what the segment in gzip inflates to, which is not stored again.
  const isDeflated = coding === "identity";
  const localBlob = await encodeSegment(
    { ...unit, coding: isDeflated ? "gzip" : coding },
    input.around,
    input.plain[1].length,
    deps,
  );
  const [open, close] = [coder.open(head), coder.close(tail, end, input.plain)];
  const sent = [open, shared.bytes, isDeflated ? local : localBlob.bytes, close] as const;
  const body: Body = {
    sha256:
      head.length === 0
        ? hashWithoutFrame(sent)
        : sha256Hex(open, shared.sha256, localBlob.sha256, close),
    bytes: lengthOf(sent),
    segments: [
      ...inlineSegments(open),
      toSegment(shared),
      isDeflated
        ? { blob: localBlob.sha256, bytes: local.length, isDeflated }
        : toSegment(localBlob),
      ...inlineSegments(close),
    ],
  };
  return { body, localBlob };
}

/** Hashes a body without a frame. Up to its common segment all locales begin alike: that is hashed once. */
function hashWithoutFrame([open, common, ...rest]: readonly [
  open: Uint8Array,
  common: Uint8Array,
  ...rest: Uint8Array[],
]): string {
  const begun =
    beginnings.get(common) ?? node.crypto.createHash("sha256").update(open).update(common);
  beginnings.set(common, begun);
  return rest.reduce((hash, part) => hash.update(part), begun.copy()).digest("hex");
}

/** Hashes of what such bodies begin with, by the common segment. */
const beginnings = new WeakMap<Uint8Array, Hash>();

/**
 * Makes a local segment for behind a common one of so many bytes, and proves it. Takes one that decodes
 * behind any, and proves only what is around it; otherwise that of the current version if it decodes to
 * the same; and compresses last.
 */
async function encodeSegment(
  { representation, coding }: { representation: Representation; coding: keyof MadeSegments },
  { head, local, tail }: Surroundings,
  commonBytes: number,
  { made, earlier, compress }: LocaleDependencies,
): Promise<HashedBlob> {
  const offset = head.length + commonBytes;
  const windowBits = windowBitsFor(commonBytes);
  const joinsBehind = (length: number, plain: Uint8Array, segment: Uint8Array) => {
    const foreign = foreignBytes(length);
    const common = length === 0 ? foreign : foreignBrotli(`${head.length} ${length} ${windowBits}`);
    const parts = [head, foreign, plain, tail] as const;
    const end = offset + local.length;
    const isSame = joins(coding, { plain: parts, common, local: segment, end, windowBits });
    releaseBuffer(foreign);
    return isSame;
  };
  // Behind a full window, as behind any longer common segment.
  const window = Math.min(commonBytes, 2 ** windowBits);
  const isFramed = () => joinsBehind(coding === "gzip" ? 0 : 1, NO_BYTES, NO_BYTES);
  const isProved = ({ bytes }: HashedBlob) =>
    coding === "gzip" ? inflatesTo(bytes, local) && isFramed() : joinsBehind(window, local, bytes);
  const known = made[coding].get(local);
  if (known && isFramed()) return known;
  const before = await earlier({ representation, coding });
  const isSame = before !== null && isProved(before);
  const segment = isSame
    ? before
    : hashBlob(await compress({ bytes: local, coding, offset, windowBits }));
  if (!isSame && !isProved(segment)) throw new NotDecodable(representation, coding);
  const isAnywhere = coding === "gzip" || window === 2 ** windowBits;
  if (isAnywhere) made[coding].set(local, segment);
  return segment;
}

/** Encoded bytes do not decode to what they were made from. */
class NotDecodable extends Error {
  override readonly name = "NotDecodable";

  constructor(representation: Representation, coding: Coding) {
    super(`${representation} in ${coding} does not decode to its input`);
  }
}

/**
 * Foreign bytes in the place of a common segment in brotli, whose segments know their position; those of
 * gzip do not. A segment that decodes behind them refers to no byte before it. The text has offset,
 * length and window.
 */
const foreignBrotli = memoize((text) => {
  const [offset = 0, length = 0, windowBits = 0] = text.split(" ").map(Number);
  const bytes = foreignBytes(length);
  return compressSegment({ bytes, coding: "br", offset, windowBits, effort: "fast" });
});

/** No part has them: they are not in UTF-8, and lengths are short. */
function foreignBytes(length: number): Uint8Array {
  return new Uint8Array(length).fill(0xff);
}

/** Whether a segment in gzip inflates by itself to bytes, as a reader inflates it. */
function inflatesTo(segment: Uint8Array, plain: Uint8Array): boolean {
  const inflated = inflateSegment(segment, plain.length);
  const isSame = inflated?.equals(plain) === true;
  if (inflated !== undefined) releaseBuffer(inflated);
  return isSame;
}

/** Two compressed segments and what all decode to; the last part was made for the offset `end`. */
interface Join {
  readonly plain: readonly [
    head: Uint8Array,
    common: Uint8Array,
    local: Uint8Array,
    tail: Uint8Array,
  ];
  readonly common: Uint8Array;
  readonly local: Uint8Array;
  readonly end: number;
  readonly windowBits: number;
}

/** Whether the first and the last part around two segments decode to all four parts. */
function joins(coding: Coding, { plain, common, local, end, windowBits }: Join): boolean {
  const coder = segmentCoder(coding, windowBits);
  const [head, , , tail] = plain;
  const encoded = concatenate([coder.open(head), common, local, coder.close(tail, end, plain)]);
  const decoded = decode(coding, encoded);
  releaseBuffer(encoded);
  let start = 0;
  const isSame = plain.every((part) =>
    decoded?.subarray(start, (start += part.length)).equals(part),
  );
  const isWhole = start === decoded?.length;
  if (decoded !== undefined) releaseBuffer(decoded);
  return isSame && isWhole;
}

/** Returns undefined for what is not encoded so. */
function decode(coding: Coding, bytes: Uint8Array): Buffer | undefined {
  try {
    return coding === "gzip" ? node.zlib.gunzipSync(bytes) : node.zlib.brotliDecompressSync(bytes);
  } catch {
    return undefined;
  }
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
