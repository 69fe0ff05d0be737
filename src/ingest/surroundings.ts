/** What stands around the common segment of a body, in each representation. */
import { Buffer } from "node:buffer";
import { concatenate } from "../catalog/bytes.ts";
import type { Form } from "../catalog/encode.ts";
import {
  FRAME_HEADER_BYTES,
  messageFrameHeader,
  SUCCESS_TRAILER_FRAME,
} from "../catalog/framing.ts";
import type { Representation } from "../catalog/manifest.ts";

/** An uncompressed body is `head ++ common ++ local ++ tail`. All locales share `common`. */
export interface Surroundings {
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
