import { trailerFlag } from "@connectrpc/connect/protocol-grpc-web";
import { concatenate } from "../catalog/bytes.ts";
import { messageFrameHeader, SUCCESS_TRAILER_FRAME } from "../catalog/framing.ts";
import type { Representation } from "../catalog/manifest.ts";
import { isGrpcWeb, MEDIA_TYPES } from "./media-type.ts";
import type { RouterAnswer } from "./router-answer.ts";

/**
 * What an answer of the router is, when the implementation left a body to be sent in place of
 * its empty message. `unexpected` must not be sent: it would be an empty catalog.
 */
export type PlaceholderVerdict = "placeholder" | "error" | "unexpected";

const NOTHING = new Uint8Array();
const EMPTY_OBJECT = new TextEncoder().encode("{}");
const EMPTY_FRAMES = concatenate([messageFrameHeader(0), SUCCESS_TRAILER_FRAME]);

const EXPECTED = {
  proto: { contentType: MEDIA_TYPES.proto, body: NOTHING },
  json: { contentType: MEDIA_TYPES.json, body: EMPTY_OBJECT },
  "grpc-web": { contentType: MEDIA_TYPES["grpc-web"], body: EMPTY_FRAMES },
  "grpc-web-text": { contentType: MEDIA_TYPES["grpc-web"], body: EMPTY_FRAMES },
} as const satisfies Record<Representation, { contentType: string; body: Uint8Array }>;

/** Judges the router's answer to a call whose success is the given stored representation. */
export function judgeAnswer(
  answer: RouterAnswer,
  representation: Representation,
): PlaceholderVerdict {
  if (isPlaceholder(answer, representation)) return "placeholder";
  return isError(answer) ? "error" : "unexpected";
}

/** Whether an answer says that the call failed, in either protocol. */
export function isError(answer: RouterAnswer): boolean {
  if (!isGrpcWeb(answer.headers.get("content-type") ?? "")) return answer.status >= 400;
  const [flags = trailerFlag] = answer.body;
  // A gRPC-Web success has a data frame before its trailer, an error has the trailer alone.
  return (flags & trailerFlag) !== 0;
}

function isPlaceholder(answer: RouterAnswer, representation: Representation): boolean {
  const expected = EXPECTED[representation];
  if (answer.status !== 200) return false;
  if (answer.headers.get("content-type") !== expected.contentType) return false;
  for (const name of answer.headers.keys()) {
    if (name !== "content-type" && name !== "content-length") return false;
  }
  return equalBytes(answer.body, expected.body);
}

function equalBytes(a: Uint8Array, b: Uint8Array): boolean {
  return a.byteLength === b.byteLength && a.every((byte, i) => byte === b[i]);
}
