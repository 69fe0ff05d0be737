import { Buffer } from "node:buffer";
import { compressedFrameHeader, SUCCESS_TRAILER_FRAME } from "./framing.ts";
import { sha256Hex } from "./bytes.ts";
import { encodeCopy } from "./dcz.ts";
import {
  type Bodies,
  type Body,
  type Coding,
  DELTA_FORMS,
  type DeltaForm,
  type Manifest,
  type Representation,
  type Segment,
  type StoredDelta,
  type StoredDeltas,
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
  return message && memoized(message, "frame", () => compressedFrame(message));
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

/** Finds the delta of an earlier body of the locale, or that of a body of another locale. */
function findDelta(
  manifest: Manifest,
  { locale, representation, coding }: WantedForm & { readonly coding: DeltaCoding },
): Body | undefined {
  const form = DELTA_FORMS.find((known) => known === representation);
  const entry = manifest.locales[locale];
  const target = form && entry?.bodies[form].identity;
  if (form === undefined || target === undefined) return undefined;
  const dictionary = coding.slice("dcz:".length);
  const sha256 = deltaKey(dictionary, target);
  for (const { deltas } of manifest.diffs) {
    const delta = deltas?.locales[locale]?.[form];
    if (!deltas || delta?.dictionary !== dictionary) continue;
    return memoized(delta, locale, () => bodyOf(sha256, [part(deltas, delta)]));
  }
  const frame = entry?.frames?.[form];
  const found = frame && findCommon(manifest, form, { dictionary, target });
  return found && memoized(found.key, locale, () => bodyOf(sha256, [found.make(), frame]));
}

/**
 * Finds the delta of the part that all locales share, for a body of any locale. The frame of a locale
 * makes it that of a body: a stream of Zstandard may have several frames.
 */
function findCommon(
  { locales, diffs }: Manifest,
  form: DeltaForm,
  { dictionary, target }: { readonly dictionary: string; readonly target: Body },
): { readonly key: object; readonly make: () => Segment } | undefined {
  for (const { bodies } of Object.values(locales)) {
    const { identity: held } = bodies[form];
    const [common] = target.segments;
    if (held?.sha256 !== dictionary || common === undefined || !("blob" in common)) continue;
    return { key: held, make: () => inlineSegment(encodeCopy(held, common.bytes)) };
  }
  for (const { deltas } of diffs)
    for (const { [form]: delta } of Object.values(deltas?.locales ?? {})) {
      if (!deltas || delta?.dictionary !== dictionary || delta.common === undefined) continue;
      const start = delta.start + delta.bytes;
      return { key: delta, make: () => part(deltas, { start, bytes: delta.common ?? 0 }) };
    }
  return undefined;
}

function part({ blob }: StoredDeltas, { start, bytes }: Pick<StoredDelta, "start" | "bytes">) {
  return { blob, start, bytes };
}

function bodyOf(sha256: string, segments: readonly Segment[]): Body {
  const bytes = segments.reduce((sum, segment) => sum + bytesOf(segment), 0);
  return { sha256, bytes, segments };
}

function bytesOf(segment: Segment): number {
  return "blob" in segment ? segment.bytes : Buffer.byteLength(segment.inline, "base64");
}

/** Stands for the hash of the bytes. `findDeltaTag` knows the target by it. */
function deltaKey(dictionary: string, target: Body): string {
  return dictionary.slice(0, 16) + target.sha256.slice(0, 48);
}

const made = new WeakMap<object, Map<string, Body>>();

/** Makes a body once for an object of the manifest and a name. */
function memoized(source: object, name: string, make: () => Body): Body {
  const bodies = made.get(source) ?? new Map<string, Body>();
  made.set(source, bodies);
  const body = bodies.get(name) ?? make();
  bodies.set(name, body);
  return body;
}
