import { Buffer } from "node:buffer";
import { brotliDecompressSync, gunzipSync } from "node:zlib";
import { concatenate } from "../catalog/bytes.ts";
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
import { plainSegments, type PlainSegments } from "./plain-segments.ts";
import { brotliWhole, checksum, type Effort, segmentCoder } from "./segment-coders.ts";

/** The common part is compressed once for all locales: it may take seconds. */
const COMMON_EFFORT: Effort = { brotliQuality: 11, gzipLevel: 9 };
/** Compressed for each locale. */
const LOCAL_EFFORT: Effort = { brotliQuality: 9, gzipLevel: 9 };

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

/** Every pair of a representation and a coding that has a common segment in this runtime. */
export function commonUnits(): CommonUnit[] {
  return REPRESENTATIONS.flatMap((representation) =>
    CODINGS.filter((coding) => segmentCoder(coding) !== undefined).map((coding) => ({
      representation,
      coding,
    })),
  );
}

const NO_REGIONS: EncodedPart = { proto: new Uint8Array(), json: new Uint8Array() };

/** Encodes the common segment of one unit. */
export function encodeCommonSegment(unit: CommonUnit, common: EncodedPart): Blob {
  const plain = plainSegments(unit.representation, common, NO_REGIONS);
  const coder = segmentCoder(unit.coding);
  if (coder === undefined) throw new Error(`segments of ${unit.coding} do not join here`);
  return toBlob(coder.middle(plain.common, plain.head.length, COMMON_EFFORT));
}

/** Gives the encoded common segment of a unit. */
export type CommonSegment = (unit: CommonUnit) => Blob;

/**
 * Encodes every body of one locale, and decodes each again to prove that it says what was meant.
 *
 * @returns the bodies, and the blobs that are this locale's own.
 */
export function encodeBodies(
  common: EncodedPart,
  local: EncodedPart,
  commonSegment: CommonSegment,
): { bodies: Bodies; blobs: Blob[] } {
  const blobs = new Map<string, Blob>();
  const keep = (blob: Blob): Segment => {
    blobs.set(blob.sha256, blob);
    return { blob: blob.sha256, bytes: blob.bytes.length };
  };
  const entries = REPRESENTATIONS.map((representation) => {
    const plain = plainSegments(representation, common, local);
    const codings = CODINGS.map((coding) => {
      const body = encodeBody({ representation, coding }, plain, commonSegment, keep);
      return [coding, body] as const;
    });
    return [representation, Object.fromEntries(codings)] as const;
  });
  const bodies = Object.fromEntries(entries) as Bodies; // one entry for each of REPRESENTATIONS
  return { bodies, blobs: [...blobs.values()] };
}

function encodeBody(
  unit: CommonUnit,
  plain: PlainSegments,
  commonSegment: CommonSegment,
  keep: (blob: Blob) => Segment,
): Body {
  const { head, common, local, tail } = plain;
  const parts = [head, common, local, tail];
  const coder = segmentCoder(unit.coding);
  if (coder === undefined) {
    const whole = toBlob(brotliWhole(concatenate(parts), LOCAL_EFFORT));
    return toBody(unit, [whole.bytes], [keep(whole)], parts);
  }
  const shared = commonSegment(unit);
  const whole = checksum(parts);
  const offset = head.length + common.length;
  const open = coder.open(head);
  const own = toBlob(coder.middle(local, offset, LOCAL_EFFORT));
  const close = coder.close(tail, offset + local.length, whole);
  const segments = [
    inline(open),
    { blob: shared.sha256, bytes: shared.bytes.length },
    keep(own),
    inline(close),
  ].filter((segment) => !("inline" in segment) || segment.inline !== "");
  return toBody(unit, [open, shared.bytes, own.bytes, close], segments, parts);
}

function toBody(
  { representation, coding }: CommonUnit,
  encoded: readonly Uint8Array[],
  segments: readonly Segment[],
  plain: readonly Uint8Array[],
): Body {
  const whole = concatenate(encoded);
  if (sha256Hex(decode(coding, whole)) !== sha256Hex(...plain))
    throw new Error(`${representation} in ${coding} does not decode to what was encoded`);
  return { sha256: sha256Hex(whole), bytes: whole.length, segments };
}

function decode(coding: Coding, bytes: Uint8Array): Uint8Array {
  switch (coding) {
    case "identity":
      return bytes;
    case "gzip":
      return gunzipSync(bytes);
    case "br":
      return brotliDecompressSync(bytes);
    default:
      return coding satisfies never;
  }
}

function inline(bytes: Uint8Array): Segment {
  return { inline: Buffer.from(bytes).toString("base64") };
}

function toBlob(bytes: Uint8Array): Blob {
  return { sha256: sha256Hex(bytes), bytes };
}
