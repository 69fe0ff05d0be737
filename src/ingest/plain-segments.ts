import { Buffer } from "node:buffer";
import { concatenate } from "../catalog/bytes.ts";
import type { EncodedPart } from "../catalog/encode.ts";
import { messageFrameHeader, SUCCESS_TRAILER_FRAME } from "../catalog/framing.ts";
import type { Representation } from "../catalog/manifest.ts";

/** A body, uncompressed: `head ++ common ++ local ++ tail`. Only `common` is the same in all locales. */
export interface PlainSegments {
  /** A few bytes. */
  readonly head: Uint8Array;
  readonly common: Uint8Array;
  readonly local: Uint8Array;
  /** A few bytes. */
  readonly tail: Uint8Array;
}

const NOTHING = new Uint8Array();

/** Cuts the body of a representation into its segments. */
export function plainSegments(
  representation: Representation,
  common: EncodedPart,
  local: EncodedPart,
): PlainSegments {
  switch (representation) {
    case "proto":
      return { head: NOTHING, common: common.proto, local: local.proto, tail: NOTHING };
    case "json":
      return { head: NOTHING, common: common.json, local: local.json, tail: NOTHING };
    case "grpc-web":
      return framed(common.proto, local.proto);
    case "grpc-web-text":
      return base64(framed(common.proto, local.proto));
    default:
      return representation satisfies never;
  }
}

function framed(common: Uint8Array, local: Uint8Array): PlainSegments {
  const head = messageFrameHeader(common.length + local.length);
  return { head, common, local, tail: SUCCESS_TRAILER_FRAME };
}

/**
 * Base64 of the whole, without padding but at its end: each cut is moved to the next multiple of
 * three bytes, so that `common` still is the same in all locales.
 */
function base64({ head, common, local, tail }: PlainSegments): PlainSegments {
  const a = (3 - (head.length % 3)) % 3;
  const b = common.length - ((common.length - a) % 3);
  const rest = concatenate([common.subarray(b), local]);
  const c = rest.length - (rest.length % 3);
  return {
    head: base64Bytes(concatenate([head, common.subarray(0, a)])),
    common: base64Bytes(common.subarray(a, b)),
    local: base64Bytes(rest.subarray(0, c)),
    tail: base64Bytes(concatenate([rest.subarray(c), tail])),
  };
}

function base64Bytes(bytes: Uint8Array): Uint8Array {
  return new TextEncoder().encode(Buffer.from(bytes).toString("base64"));
}
