import { Buffer } from "node:buffer";
import { compressedFrameHeader, SUCCESS_TRAILER_FRAME } from "./framing.ts";
import { DCZ_HEADER_BYTES, dczHeader, encodeStart, LAST_BLOCK } from "./dcz.ts";
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
  type StoredSegment,
} from "./manifest.ts";
import { findLocalesOf } from "./sealed-manifest.ts";

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

/** A body as it is sent: of stored segments, or with a template that is filled in. */
export interface SentBody extends Pick<Body, "sha256" | "bytes"> {
  readonly segments: readonly (Segment | FilledTemplate)[];
}

/** A stored template for a browser that has the body with some layouts. */
export interface FilledTemplate {
  readonly template: StoredSegment;
  readonly form: DeltaForm;
  /** Blob of the layouts. */
  readonly layouts: string;
  /** Length of what comes before it in the body. */
  readonly before: number;
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
): SentBody | undefined {
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

/**
 * Frames a compressed message. Its `sha256` is a key of its own, the halves of the message's exchanged,
 * and not the hash of its bytes.
 */
function compressedFrame({ sha256, bytes, segments }: Body): Body {
  const header = compressedFrameHeader(bytes);
  return {
    sha256: sha256.slice(32) + sha256.slice(0, 32),
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
): SentBody | undefined {
  const form = DELTA_FORMS.find((known) => known === representation);
  const target = form && manifest.locales[locale]?.bodies[form].identity;
  if (form === undefined || target === undefined) return undefined;
  const dictionary = coding.slice("dcz:".length);
  return memoized(manifest, `${locale} ${form} ${dictionary}`, () => {
    const wanted = { locale, form, dictionary, target };
    const segments = findUpdate(manifest, wanted) ?? findTranslation(manifest, wanted);
    return segments && bodyOf(deltaKey(dictionary, target), segments);
  });
}

/** A body as a delta of another. */
interface WantedDelta {
  readonly locale: string;
  readonly form: DeltaForm;
  /** SHA-256 (hex) of the other. */
  readonly dictionary: string;
  readonly target: Body;
}

/** Finds the stored delta of an earlier body of the locale. */
function findUpdate(
  { diffs }: Manifest,
  { locale, form, dictionary }: WantedDelta,
): SentBody["segments"] | undefined {
  for (const { deltas } of diffs) {
    const delta = deltas?.locales[locale]?.[form];
    if (deltas && delta?.dictionary === dictionary) return [part(deltas, delta)];
  }
  return undefined;
}

/** Finds what makes the body of a body of another locale. */
function findTranslation(
  manifest: Manifest,
  wanted: WantedDelta,
): SentBody["segments"] | undefined {
  const { locale, form, target } = wanted;
  const translation = manifest.locales[locale]?.translation;
  const [common] = target.segments;
  if (!translation || common === undefined || !("blob" in common)) return undefined;
  const before = common.bytes;
  const start = findStart(manifest, wanted, before);
  const held = start && manifest.locales[start.locale]?.translation;
  if (start === undefined || held?.pieces !== translation.pieces) return undefined;
  const template = translation.templates[form];
  return [...start.segments, { template, form, layouts: held.layouts, before }];
}

/** How a delta begins whose dictionary is a body of the locale. */
interface DeltaStart {
  readonly locale: string;
  readonly segments: readonly Segment[];
}

/** Finds the beginning of a delta, which makes the part that all locales share, from any locale's body. */
function findStart(
  manifest: Manifest,
  { form, dictionary: sha256, target: { bytes } }: WantedDelta,
  common: number,
): DeltaStart | undefined {
  for (const locale of findLocalesOf(manifest, sha256)) {
    const held = manifest.locales[locale]?.bodies[form].identity;
    if (held?.sha256 !== sha256) continue;
    const dictionary = { sha256, bytes: held.bytes };
    return { locale, segments: [inlineSegment(encodeStart({ dictionary, common, bytes }))] };
  }
  for (const { deltas } of manifest.diffs)
    for (const [locale, { [form]: delta }] of Object.entries(deltas?.locales ?? {})) {
      if (!deltas || delta?.dictionary !== sha256 || delta.common === undefined) continue;
      const start = delta.start + delta.bytes + DCZ_HEADER_BYTES;
      const blocks = delta.common - DCZ_HEADER_BYTES - LAST_BLOCK.length;
      const header = inlineSegment(dczHeader({ sha256 }, bytes));
      return { locale, segments: [header, part(deltas, { start, bytes: blocks })] };
    }
  return undefined;
}

function part(
  { blob }: StoredDeltas,
  { start, bytes }: Pick<StoredDelta, "start" | "bytes">,
): StoredSegment {
  return { blob, start, bytes };
}

function bodyOf(sha256: string, segments: SentBody["segments"]): SentBody {
  const bytes = segments.reduce((sum, segment) => sum + bytesOf(segment), 0);
  return { sha256, bytes, segments };
}

function bytesOf(segment: Segment | FilledTemplate): number {
  if ("template" in segment) return segment.template.bytes;
  return "blob" in segment ? segment.bytes : Buffer.byteLength(segment.inline, "base64");
}

/** Stands for the hash of the bytes. `findDeltaTag` knows the target by it. */
function deltaKey(dictionary: string, target: Body): string {
  return dictionary.slice(0, 16) + target.sha256.slice(0, 48);
}

const made = new WeakMap<object, Map<string, SentBody>>();

/** Makes a body once for a manifest or a part of it, and a name. */
function memoized<B extends SentBody | undefined>(
  source: object,
  name: string,
  make: () => B,
): SentBody | B {
  const bodies = made.get(source) ?? new Map<string, SentBody>();
  made.set(source, bodies);
  const body = bodies.get(name) ?? make();
  // Clients name dictionaries that no version has, as many as they like.
  if (body !== undefined) bodies.set(name, body);
  return body;
}
