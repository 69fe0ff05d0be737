import { Buffer } from "node:buffer";
import { compressedFrameHeader, SUCCESS_TRAILER_FRAME } from "./framing.ts";
import { DCZ_HEADER_BYTES, dczHeader, encodeStart, LAST_BLOCK } from "./dcz.ts";
import {
  type Bodies,
  type Body,
  bodyOf,
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

/**
 * Frames a compressed message. Its `sha256` is a key of its own, the halves of the message's exchanged,
 * and not the hash of its bytes.
 */
function compressedFrame({ sha256, bytes, segments }: Body): Body {
  return bodyOf(sha256.slice(32) + sha256.slice(0, 32), [
    inlineSegment(compressedFrameHeader(bytes)),
    ...segments,
    inlineSegment(SUCCESS_TRAILER_FRAME),
  ]);
}

function inlineSegment(bytes: Uint8Array): Segment {
  return { inline: Buffer.from(bytes).toString("base64") };
}

/**
 * Finds the delta of an earlier body of the locale, or that of a body of another locale; undefined if
 * the whole body is not longer.
 */
function findDelta(
  manifest: Manifest,
  { locale, representation, coding }: WantedForm & { readonly coding: DeltaCoding },
): Body | undefined {
  const form = DELTA_FORMS.find((known) => known === representation);
  const target = form && manifest.locales[locale]?.bodies[form].identity;
  if (form === undefined || target === undefined) return undefined;
  const dictionary = coding.slice("dcz:".length);
  return memoized(manifest, `${locale} ${form} ${dictionary}`, () => {
    const wanted = { locale, form, dictionary, target };
    const segments = findUpdate(manifest, wanted) ?? findOther(manifest, wanted);
    const delta = segments && bodyOf(deltaKey(dictionary, target), segments);
    const whole = Object.values(manifest.locales[locale]?.bodies[form] ?? {});
    return delta && whole.every(({ bytes }) => delta.bytes < bytes) ? delta : undefined;
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
): Body["segments"] | undefined {
  for (const { deltas } of diffs) {
    const delta = deltas?.locales[locale]?.[form];
    if (deltas && delta?.dictionary === dictionary) return [part(deltas, delta)];
  }
  return undefined;
}

/** Finds what makes the body from that of another locale: a copy of the common part, and its own part. */
function findOther(manifest: Manifest, wanted: WantedDelta): Body["segments"] | undefined {
  const own = manifest.locales[wanted.locale]?.own[wanted.form];
  const [common] = wanted.target.segments;
  if (own === undefined || common === undefined || !("blob" in common)) return undefined;
  const start = findStart(manifest, wanted, common.bytes);
  return start && [...start, own];
}

/** Finds the beginning of a delta, which makes the part that all locales share, from any locale's body. */
function findStart(
  manifest: Manifest,
  { form, dictionary: sha256, target: { bytes } }: WantedDelta,
  common: number,
): readonly Segment[] | undefined {
  for (const locale of findLocalesOf(manifest, sha256)) {
    const body = manifest.locales[locale]?.bodies[form].identity;
    if (body?.sha256 !== sha256) continue;
    const dictionary = { sha256, bytes: body.bytes };
    return [inlineSegment(encodeStart({ dictionary, common, bytes }))];
  }
  for (const { deltas } of manifest.diffs)
    for (const { [form]: delta } of Object.values(deltas?.locales ?? {})) {
      if (!deltas || delta?.dictionary !== sha256) continue;
      const start = delta.start + delta.bytes + DCZ_HEADER_BYTES;
      const blocks = delta.common - DCZ_HEADER_BYTES - LAST_BLOCK.length;
      const header = inlineSegment(dczHeader({ sha256 }, bytes));
      return [header, part(deltas, { start, bytes: blocks })];
    }
  return undefined;
}

function part(
  { blob }: StoredDeltas,
  { start, bytes }: Pick<StoredDelta, "start" | "bytes">,
): StoredSegment {
  return { blob, start, bytes };
}

/** Stands for the hash of the bytes. `findDeltaTag` knows the target by it. */
function deltaKey(dictionary: string, target: Body): string {
  return dictionary.slice(0, 16) + target.sha256.slice(0, 48);
}

const made = new WeakMap<object, Map<string, Body>>();

/** Makes a body once for a manifest or a part of it, and a name. */
function memoized<B extends Body | undefined>(
  source: object,
  name: string,
  make: () => B,
): Body | B {
  const bodies = made.get(source) ?? new Map<string, Body>();
  made.set(source, bodies);
  const body = bodies.get(name) ?? make();
  // Clients name dictionaries that no version has, as many as they like.
  if (body !== undefined) bodies.set(name, body);
  return body;
}
