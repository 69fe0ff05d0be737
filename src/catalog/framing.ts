import { Buffer } from "node:buffer";
import { sha256Hex } from "./hash.ts";
import type { Bodies, Body, Coding, Representation, Segment } from "./manifest.ts";

/** gRPC-Web's framing of one message (https://github.com/grpc/grpc/blob/master/doc/PROTOCOL-WEB.md). */

/** One byte of flags and four of length. */
export const FRAME_HEADER_BYTES = 5;
/** Least significant bit of the flags: the message is compressed, as Grpc-Encoding says. */
const COMPRESSED_FLAG = 0x01;
/** Most significant bit of the flags: the frame holds trailers. */
const TRAILER_FLAG = 0x80;

/** Builds the frame header of an uncompressed message of `length` bytes. */
export function messageFrameHeader(length: number): Uint8Array<ArrayBuffer> {
  return frameHeader(0, length);
}

/** The trailer frame of a call that succeeded without trailing metadata. */
export const SUCCESS_TRAILER_FRAME: Uint8Array<ArrayBuffer> = trailerFrame("grpc-status: 0\r\n");

function trailerFrame(trailers: string): Uint8Array<ArrayBuffer> {
  const frame = new Uint8Array(FRAME_HEADER_BYTES + trailers.length);
  frame.set(frameHeader(TRAILER_FLAG, trailers.length));
  frame.set(new TextEncoder().encode(trailers), FRAME_HEADER_BYTES);
  return frame;
}

function frameHeader(flags: number, length: number): Uint8Array<ArrayBuffer> {
  const header = new Uint8Array(FRAME_HEADER_BYTES);
  header[0] = flags;
  new DataView(header.buffer).setUint32(1, length);
  return header;
}

/** Codings of the message within its frame, smallest first (gRPC, "Compression"). */
export const MESSAGE_CODINGS = { "grpc-br": "br", "grpc-gzip": "gzip" } as const;
export type MessageCoding = keyof typeof MESSAGE_CODINGS;

/** The coding `dcz` with the SHA-256 (hex) of its dictionary. */
export type DeltaCoding = `dcz:${string}`;

/** A coding of the whole body, or of the message alone. */
export type AnyCoding = Coding | MessageCoding | DeltaCoding;

export function isDeltaCoding(coding: AnyCoding): coding is DeltaCoding {
  return coding.startsWith("dcz:");
}

export function isMessageCoding(coding: AnyCoding): coding is MessageCoding {
  return coding in MESSAGE_CODINGS;
}

/** Finds a published body, or the frame around a published body that is the compressed message. */
export function bodyIn(
  bodies: Bodies,
  representation: Representation,
  coding: Coding | MessageCoding,
): Body | undefined {
  if (!isMessageCoding(coding)) return bodies[representation][coding];
  const messages = messagesOf(bodies, representation);
  const message = messages?.[MESSAGE_CODINGS[coding]];
  return message && compressedFrame(message);
}

function messagesOf(bodies: Bodies, representation: Representation): Bodies["proto"] | undefined {
  if (representation === "grpc-web") return bodies.proto;
  return representation === "grpc-web-json" ? bodies.json : undefined;
}

const frames = new WeakMap<Body, Body>();

/** Frames a compressed message. Its `sha256` is a key of its own, and not the hash of its bytes. */
function compressedFrame(message: Body): Body {
  const made = frames.get(message);
  if (made !== undefined) return made;
  const header = frameHeader(COMPRESSED_FLAG, message.bytes);
  const frame: Body = {
    sha256: sha256Hex(`frame of ${message.sha256}`),
    bytes: header.length + message.bytes + SUCCESS_TRAILER_FRAME.length,
    segments: [inline(header), ...message.segments, inline(SUCCESS_TRAILER_FRAME)],
  };
  frames.set(message, frame);
  return frame;
}

function inline(bytes: Uint8Array): Segment {
  return { inline: Buffer.from(bytes).toString("base64") };
}
