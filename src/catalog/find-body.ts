import { Buffer } from "node:buffer";
import { compressedFrameHeader, SUCCESS_TRAILER_FRAME } from "./framing.ts";
import { sha256Hex } from "./bytes.ts";
import {
  type Bodies,
  type Body,
  type Coding,
  DELTA_FORMS,
  type Manifest,
  type Representation,
  type Segment,
} from "./manifest.ts";

/** Codings of the message within its frame, smallest first (gRPC, "Compression"). */
export const MESSAGE_CODINGS = { "grpc-br": "br", "grpc-gzip": "gzip" } as const;
export type MessageCoding = keyof typeof MESSAGE_CODINGS;

/** The coding `dcz` with the SHA-256 (hex) of its dictionary. */
type DeltaCoding = `dcz:${string}`;

/** A coding of the whole body, or of the message alone. */
export type AnyCoding = Coding | MessageCoding | DeltaCoding;

export function isDeltaCoding(coding: AnyCoding): coding is DeltaCoding {
  return coding.startsWith("dcz:");
}

export function isMessageCoding(coding: AnyCoding): coding is MessageCoding {
  return coding in MESSAGE_CODINGS;
}

interface WantedForm {
  readonly locale: string;
  readonly representation: Representation;
  readonly coding: AnyCoding;
}

/**
 * Finds a body of a version: a published one, the frame around a published one that is the
 * compressed message, or one in `dcz` for the dictionary that the coding names.
 */
export function findBody(
  manifest: Manifest,
  { locale, representation, coding }: WantedForm,
): Body | undefined {
  const bodies = manifest.locales[locale]?.bodies;
  if (bodies === undefined) return undefined;
  if (isDeltaCoding(coding)) return findDelta(manifest, { locale, representation, coding });
  if (!isMessageCoding(coding)) return bodies[representation][coding];
  const message = messagesOf(bodies, representation)?.[MESSAGE_CODINGS[coding]];
  return message && memoized(message, compressedFrame);
}

function messagesOf(bodies: Bodies, representation: Representation): Bodies["proto"] | undefined {
  if (representation === "grpc-web") return bodies.proto;
  return representation === "grpc-web-json" ? bodies.json : undefined;
}

/** Frames a compressed message. Its `sha256` is a key of its own, and not the hash of its bytes. */
function compressedFrame({ sha256, bytes, segments }: Body): Body {
  const header = compressedFrameHeader(bytes);
  return {
    sha256: sha256Hex(`frame of ${sha256}`),
    bytes: header.length + bytes + SUCCESS_TRAILER_FRAME.length,
    segments: [inlineSegment(header), ...segments, inlineSegment(SUCCESS_TRAILER_FRAME)],
  };
}

function inlineSegment(bytes: Uint8Array): Segment {
  return { inline: Buffer.from(bytes).toString("base64") };
}

function findDelta(
  { locales, diffs }: Manifest,
  { locale, representation, coding }: WantedForm & { readonly coding: DeltaCoding },
): Body | undefined {
  const form = DELTA_FORMS.find((known) => known === representation);
  const identity = form && locales[locale]?.bodies[form].identity;
  if (form === undefined || identity === undefined) return undefined;
  const dictionary = coding.slice("dcz:".length);
  for (const { deltas } of diffs) {
    const delta = deltas?.locales[locale]?.[form];
    if (!deltas || delta?.dictionary !== dictionary) continue;
    return memoized(delta, ({ start, bytes }) => {
      const segment = { blob: deltas.blob, start, bytes };
      return { sha256: deltaKey(dictionary, identity), bytes, segments: [segment] };
    });
  }
  return undefined;
}

/** Stands for the hash of the bytes. `findDeltaTag` knows the target by it. */
function deltaKey(dictionary: string, target: Body): string {
  return dictionary.slice(0, 16) + target.sha256.slice(0, 48);
}

const made = new WeakMap<object, Body>();

function memoized<K extends object>(key: K, make: (key: K) => Body): Body {
  const known = made.get(key) ?? make(key);
  made.set(key, known);
  return known;
}
