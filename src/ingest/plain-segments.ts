import { Buffer } from "node:buffer";
import { concatenate } from "../catalog/bytes.ts";
import type { Form } from "../catalog/encode.ts";
import { messageFrameHeader, SUCCESS_TRAILER_FRAME } from "../catalog/framing.ts";
import type { Representation } from "../catalog/manifest.ts";

/** A body, uncompressed, is `head ++ common ++ local ++ tail`. Only `common` is the same in all locales. */
export interface Surroundings {
  /** A few bytes. */
  readonly head: Uint8Array;
  readonly local: Uint8Array;
  /** A few bytes. */
  readonly tail: Uint8Array;
}

/** What the rest of a body needs to know of the common part, in the representation's form. */
export interface CommonEnds {
  readonly bytes: number;
  /** At least the first two bytes. */
  readonly first: Uint8Array;
  /** At least the last two bytes. */
  readonly last: Uint8Array;
}

type Pieces = Iterable<Uint8Array> | AsyncIterable<Uint8Array>;

const NOTHING = new Uint8Array();
const FRAME_HEADER_BYTES = messageFrameHeader(0).length;
/**
 * Base64 goes by three bytes: the cuts of its segments are moved, so that the common one is still
 * the same in all locales. This many bytes of the common part are in the head.
 */
const BYTES_IN_HEAD = (3 - (FRAME_HEADER_BYTES % 3)) % 3;

/** The form of the encoded parts that a representation is made of. */
export function formOf(representation: Representation): Form {
  return representation === "json" ? "json" : "proto";
}

/** Length of the head, which is the same in all locales. */
export function headLength(representation: Representation): number {
  const ends = { bytes: 3, first: new Uint8Array(3), last: new Uint8Array(3) };
  return surround(representation, ends, NOTHING).head.length;
}

/** Length of the common segment, for a common part of so many bytes. */
export function commonLength(representation: Representation, bytes: number): number {
  return representation === "grpc-web-text" ? (bytesInBase64(bytes) / 3) * 4 : bytes;
}

/** The common segment, out of the common part in the representation's form, piece by piece. */
export function commonSegment(representation: Representation, part: Pieces, bytes: number): Pieces {
  return representation === "grpc-web-text" ? base64Pieces(part, bytesInBase64(bytes)) : part;
}

/** What stands around the common segment in the body of one locale. */
export function surround(
  representation: Representation,
  common: CommonEnds,
  local: Uint8Array,
): Surroundings {
  switch (representation) {
    case "proto":
    case "json":
      return { head: NOTHING, local, tail: NOTHING };
    case "grpc-web":
      return framed(common, local);
    case "grpc-web-text":
      return base64(common, framed(common, local));
    default:
      return representation satisfies never;
  }
}

function framed({ bytes }: CommonEnds, local: Uint8Array): Surroundings {
  return { head: messageFrameHeader(bytes + local.length), local, tail: SUCCESS_TRAILER_FRAME };
}

/** Base64 of the whole, without padding but at its end. */
function base64({ bytes, first, last }: CommonEnds, { head, local, tail }: Surroundings) {
  const leftOver = bytes - BYTES_IN_HEAD - bytesInBase64(bytes);
  const rest = concatenate([last.subarray(last.length - leftOver), local]);
  const cut = rest.length - (rest.length % 3);
  return {
    head: base64Bytes(concatenate([head, first.subarray(0, BYTES_IN_HEAD)])),
    local: base64Bytes(rest.subarray(0, cut)),
    tail: base64Bytes(concatenate([rest.subarray(cut), tail])),
  };
}

/** How many bytes of the common part are in its own segment. */
function bytesInBase64(bytes: number): number {
  const after = bytes - BYTES_IN_HEAD;
  return after - (after % 3);
}

/** Base64 of `length` bytes, a multiple of three, that come after those in the head. */
async function* base64Pieces(part: Pieces, length: number): AsyncGenerator<Uint8Array> {
  let skip = BYTES_IN_HEAD;
  let left = length;
  let carried: Uint8Array = NOTHING;
  for await (const piece of part) {
    const bytes = concatenate([carried, piece.subarray(skip)]);
    skip = Math.max(0, skip - piece.length);
    const whole = Math.min(left, bytes.length - (bytes.length % 3));
    yield base64Bytes(bytes.subarray(0, whole));
    left -= whole;
    carried = bytes.subarray(whole);
  }
}

function base64Bytes(bytes: Uint8Array): Uint8Array {
  const { buffer, byteOffset, length } = bytes;
  return new TextEncoder().encode(Buffer.from(buffer, byteOffset, length).toString("base64"));
}
