import { Buffer } from "node:buffer";
import { brotliDecompressSync, crc32, gunzipSync } from "node:zlib";
import { concatenate, releaseBuffer } from "../catalog/bytes.ts";
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
import { formOf, surround, type Surroundings } from "./plain-segments.ts";
import { segmentCoder, type SegmentTask } from "./segment-coders.ts";

/** Bytes to be stored under their own SHA-256 (hex). */
export interface Blob {
  readonly sha256: string;
  readonly bytes: Uint8Array;
}

/** One of the ways in which the common part goes out. */
export interface CommonUnit {
  readonly representation: Representation;
  readonly coding: Coding;
}

/** A stored segment, as the manifest names it. */
export type StoredSegment = Extract<Segment, { readonly blob: string }>;

/** What the bodies of a locale are made with. */
export interface BodyDependencies {
  /** The common segment of a unit, which is stored. */
  readonly common: (unit: CommonUnit) => Promise<Blob>;
  /** Compresses a segment of the locale. */
  readonly compress: (task: Omit<SegmentTask, "effort">) => Promise<Uint8Array>;
  /**
   * Is given this locale's own blobs, none of them twice: those of one representation when its
   * bodies are proved, and before the next is encoded.
   */
  readonly store: (blobs: readonly Blob[]) => Promise<void>;
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

/**
 * Encodes every body of one locale, and decodes each compressed one again to prove that it says
 * what was meant. Holds the bodies of one representation at a time.
 *
 * @throws Error if a body does not decode to what was encoded; what `deps` reject with.
 */
export async function encodeBodies(local: EncodedPart, deps: BodyDependencies): Promise<Bodies> {
  const stored = new Set<string>();
  const entries: [Representation, Bodies[Representation]][] = [];
  for (const representation of REPRESENTATIONS) {
    const { codings, blobs } = await encodeCodings(representation, local, deps);
    await deps.store([...blobs.values()].filter(({ sha256 }) => !stored.has(sha256)));
    for (const sha256 of blobs.keys()) stored.add(sha256);
    entries.push([representation, codings]);
  }
  return Object.fromEntries(entries) as Bodies; // one entry for each of REPRESENTATIONS
}

async function encodeCodings(
  representation: Representation,
  local: EncodedPart,
  deps: BodyDependencies,
): Promise<{ codings: Bodies[Representation]; blobs: ReadonlyMap<string, Blob> }> {
  const form = formOf(representation);
  const part = await deps.common({ representation: form, coding: "identity" });
  const shared = await deps.common({ representation, coding: "identity" });
  const around = surround(representation, part.bytes, local[form]);
  const plain = concatenate([around.head, shared.bytes, around.local, around.tail]);
  const codings: { [C in Coding]?: Body } = {};
  const blobs = new Map<string, Blob>();
  for (const coding of CODINGS) {
    if (segmentCoder(coding) === undefined) continue;
    const { body, own } = await encodeBody({ representation, coding }, { around, plain }, deps);
    blobs.set(own.sha256, own);
    codings[coding] = body;
  }
  releaseBuffer(plain);
  return { codings, blobs };
}

async function encodeBody(
  unit: CommonUnit,
  { around, plain }: { readonly around: Surroundings; readonly plain: Uint8Array },
  { common, compress }: BodyDependencies,
): Promise<{ body: Body; own: Blob }> {
  const { coding } = unit;
  const coder = segmentCoder(coding);
  if (coder === undefined) throw new Error(`segments of ${coding} do not join here`);
  const { head, local, tail } = around;
  const end = plain.length - tail.length;
  const offset = end - local.length;
  const shared = await common(unit);
  const own = toBlob(
    coding === "identity" ? local : await compress({ bytes: local, coding, offset }),
  );
  const [open, close] = [coder.open(head), coder.close(tail, end, checksumOf(plain))];
  const sent = concatenate([open, shared.bytes, own.bytes, close]);
  if (!decodesTo(coding, sent, plain))
    throw new Error(`${unit.representation} in ${coding} does not decode to what was encoded`);
  const body: Body = {
    sha256: sha256Hex(sent),
    bytes: sent.length,
    segments: [...inline(open), toSegment(shared), toSegment(own), ...inline(close)],
  };
  releaseBuffer(sent);
  return { body, own };
}

function checksumOf(bytes: Uint8Array) {
  return { crc32: crc32(bytes), bytes: bytes.length };
}

function decodesTo(coding: Coding, sent: Uint8Array, plain: Uint8Array): boolean {
  if (coding === "identity") return true;
  const decoded = coding === "gzip" ? gunzipSync(sent) : brotliDecompressSync(sent);
  const isSame = decoded.equals(plain);
  releaseBuffer(decoded);
  return isSame;
}

/** Bytes that stand in the manifest itself; nothing for none. */
function inline(bytes: Uint8Array): Segment[] {
  return bytes.length === 0 ? [] : [{ inline: Buffer.from(bytes).toString("base64") }];
}

/** A blob as the manifest names it. */
export function toSegment({ sha256, bytes }: Blob): StoredSegment {
  return { blob: sha256, bytes: bytes.length };
}

/** Bytes with their name. */
export function toBlob(bytes: Uint8Array): Blob {
  return { sha256: sha256Hex(bytes), bytes };
}
