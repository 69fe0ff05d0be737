/**
 * Composes bodies: an opening edge, the shared part, the locale part, a closing edge. Pure: no clock,
 * no I/O.
 */
import type { Form } from "../catalog/encode.ts";
import { concatenate } from "../catalog/bytes.ts";
import type { Sha256Hex } from "../platform/units.ts";
import { compressedFrameHeader, messageFrameHeader, SUCCESS_TRAILER_FRAME } from "./framing.ts";
import {
  type Coding,
  CODINGS,
  type Manifest,
  type LocaleParts,
  type SharedParts,
  type StoredPart,
} from "./manifest.ts";

/** Wire forms. `grpc-web-text` is `grpc-web` in base64, which is encoded while it is sent. */
export const REPRESENTATIONS = [
  "proto",
  "json",
  "grpc-web",
  "grpc-web-text",
  "grpc-web-json",
] as const;
export type Representation = (typeof REPRESENTATIONS)[number];

/** Codings of the message within its frame, smallest first (gRPC, "Compression"). */
export const MESSAGE_CODINGS = { "grpc-br": "br", "grpc-gzip": "gzip" } as const;
export type MessageCoding = keyof typeof MESSAGE_CODINGS;

export type AnyCoding = Coding | MessageCoding;

export function isMessageCoding(coding: AnyCoding): coding is MessageCoding {
  return coding in MESSAGE_CODINGS;
}

/** A stored part of a body. */
export interface StoredPiece extends StoredPart {
  /** Whether the blob is a part in gzip that is sent inflated. `bytes` is then the inflated length. */
  readonly isInflated?: true;
}

export interface Body {
  /** Identifies the bytes. */
  readonly key: string;
  /** Of the bytes; null for gRPC-Web, whose answers have no digest. */
  readonly sha256: Sha256Hex | null;
  /** Length as sent. */
  readonly bytes: number;
  readonly pieces: readonly (StoredPiece | Uint8Array<ArrayBuffer>)[];
}

/** The form of a representation, and its codings. Base64 would have to be compressed for each call. */
interface Composition {
  readonly form: Form;
  readonly isFramed: boolean;
  readonly codings: readonly AnyCoding[];
}

const IN_FRAME: readonly AnyCoding[] = ["grpc-br", "grpc-gzip"];
const COMPOSITIONS: { readonly [R in Representation]: Composition } = {
  proto: { form: "proto", isFramed: false, codings: CODINGS },
  json: { form: "json", isFramed: false, codings: CODINGS },
  "grpc-web": { form: "proto", isFramed: true, codings: [...CODINGS, ...IN_FRAME] },
  "grpc-web-text": { form: "proto", isFramed: true, codings: ["identity", ...IN_FRAME] },
  "grpc-web-json": { form: "json", isFramed: true, codings: [...CODINGS, ...IN_FRAME] },
};

export interface WantedBody {
  readonly locale: string;
  readonly representation: Representation;
  readonly coding: AnyCoding;
}

/** Composes a body of a version, once for each manifest. Undefined if the version has no such body. */
export function composeBody(
  manifest: Manifest,
  { locale, representation, coding }: WantedBody,
): Body | undefined {
  const entry = Object.hasOwn(manifest.locales, locale) ? manifest.locales[locale] : undefined;
  const { form, isFramed, codings } = COMPOSITIONS[representation];
  if (entry === undefined || !codings.includes(coding)) return undefined;
  const known = composed.get(manifest) ?? new Map<string, Body | undefined>();
  composed.set(manifest, known);
  const name = `${locale} ${form} ${isFramed} ${coding}`;
  if (known.has(name)) return known.get(name);
  const parts = { shared: manifest.shared[form], locale: entry.parts[form] };
  const compose = isFramed ? composeFrames : composeMessage;
  const body = isMessageCoding(coding)
    ? frameCompressed(composeMessage(parts, MESSAGE_CODINGS[coding]))
    : compose(parts, coding);
  known.set(name, body);
  return body;
}

const composed = new WeakMap<Manifest, Map<string, Body | undefined>>();

interface Parts {
  readonly shared: SharedParts;
  readonly locale: LocaleParts;
}

function composeMessage({ shared, locale }: Parts, coding: Coding): Body | undefined {
  const sha256 = locale.digests[coding];
  const pieces = storedPieces(shared[coding], locale, coding);
  if (sha256 === undefined || pieces === undefined) return undefined;
  const edges = messageEdges(coding, {
    sharedBytes: shared.identity.bytes,
    bytes: messageBytes({ shared, locale }),
    crc32: locale.crc32.message,
  });
  return joined(sha256.slice(0, KEY_LENGTH), sha256, pieces, edges);
}

export function messageEdges(coding: Coding, between: Omit<Between, "head" | "tail">): Edges {
  return EDGES[coding]({ head: NO_BYTES, tail: NO_BYTES, ...between });
}

/** Composes gRPC-Web's frames around a message, coded as a whole. */
function composeFrames({ shared, locale }: Parts, coding: Coding): Body | undefined {
  const pieces = storedPieces(coding === "br" ? shared.brInFrame : shared[coding], locale, coding);
  if (pieces === undefined) return undefined;
  const message = messageBytes({ shared, locale });
  const head = messageFrameHeader(message);
  const tail = SUCCESS_TRAILER_FRAME;
  const edges = EDGES[coding]({
    head,
    tail,
    sharedBytes: shared.identity.bytes,
    bytes: head.length + message + tail.length,
    crc32: locale.crc32.framed,
  });
  return joined(framedKey(coding, pieces), null, pieces, edges);
}

function frameCompressed(message: Body | undefined): Body | undefined {
  if (message === undefined) return undefined;
  const edges = [compressedFrameHeader(message.bytes), SUCCESS_TRAILER_FRAME] as const;
  return joined(`frame-${message.key}`, null, message.pieces, edges);
}

/** Length of an entity tag between its quotes: half of a hash is enough. */
const KEY_LENGTH = 32;

/** The stored pieces determine a body in frames. */
function framedKey(coding: Coding, [shared, locale]: readonly StoredPiece[]): string {
  return `${coding}-${shared?.sha256.slice(0, KEY_LENGTH / 2)}${locale?.sha256.slice(0, KEY_LENGTH / 2)}`;
}

/** Returns the stored pieces; undefined if the runtime of the ingest could not make one. */
function storedPieces(
  shared: StoredPart | undefined,
  locale: LocaleParts,
  coding: Coding,
): readonly StoredPiece[] | undefined {
  const localePart: StoredPiece | undefined =
    coding === "identity"
      ? { sha256: locale.gzip.sha256, bytes: locale.bytes, isInflated: true }
      : locale[coding];
  return shared === undefined || localePart === undefined ? undefined : [shared, localePart];
}

export function messageBytes({ shared, locale }: Parts): number {
  return shared.identity.bytes + locale.bytes;
}

function joined(
  key: string,
  sha256: Sha256Hex | null,
  between: Body["pieces"],
  [open, close]: Edges,
): Body {
  const edge = (bytes: Uint8Array<ArrayBuffer>) => (bytes.length === 0 ? [] : [bytes]);
  const pieces = [...edge(open), ...between, ...edge(close)];
  const bytes = pieces.reduce(
    (sum, piece) => sum + (piece instanceof Uint8Array ? piece.length : piece.bytes),
    0,
  );
  return { key, sha256, bytes, pieces };
}

const NO_BYTES = new Uint8Array();

export type Edges = readonly [open: Uint8Array<ArrayBuffer>, close: Uint8Array<ArrayBuffer>];

interface Between {
  readonly head: Uint8Array<ArrayBuffer>;
  readonly tail: Uint8Array<ArrayBuffer>;
  /** Length of the shared part without a coding. */
  readonly sharedBytes: number;
  /** Length of the whole body without a coding. */
  readonly bytes: number;
  /** Of the whole body without a coding. */
  readonly crc32: number;
}

/** Makes the edges of a body. They are not compressed, because they have only a few bytes. */
export const EDGES: { readonly [C in Coding]: (between: Between) => Edges } = {
  identity: ({ head, tail }) => [head, tail],
  gzip: ({ head, tail, bytes, crc32 }) => [
    concatenate([GZIP_HEADER, storedBlock(head, 0)]),
    concatenate([
      tail.length === 0 ? EMPTY_LAST_BLOCK : storedBlock(tail, 1),
      gzipTrailer(crc32, bytes),
    ]),
  ],
  br: ({ head, tail, sharedBytes }) => [
    head.length === 0 ? head : rawMetablock(head, windowBitsFor(sharedBytes)),
    concatenate([...(tail.length === 0 ? [] : [rawMetablock(tail)]), LAST_METABLOCK]),
  ],
};

/** Header of a gzip member: deflate, no flags, no time, unknown system (RFC 1952, section 2.3). */
const GZIP_HEADER = Uint8Array.of(0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff);

/** Has only its type, fixed codes, and its end (RFC 1951, section 3.2.6). */
const EMPTY_LAST_BLOCK = Uint8Array.of(3, 0);

function gzipTrailer(crc32: number, bytes: number): Uint8Array {
  const trailer = new DataView(new ArrayBuffer(8));
  trailer.setUint32(0, crc32, true);
  trailer.setUint32(4, bytes, true);
  return new Uint8Array(trailer.buffer);
}

/** Makes a block without compression (RFC 1951, section 3.2.4) of less than 256 bytes. */
function storedBlock(bytes: Uint8Array, isLast: 0 | 1): Uint8Array {
  return concatenate([Uint8Array.of(isLast, bytes.length, 0, ~bytes.length, 0xff), bytes]);
}

/** Makes an uncompressed metablock (RFC 7932, section 9.2) of at most 64 KiB. The first names the window. */
export function rawMetablock(bytes: Uint8Array, windowBits?: number): Uint8Array<ArrayBuffer> {
  const window = windowBits === undefined ? 0 : ((windowBits - 17) << 1) | 1;
  const block = (bytes.length - 1 + UNCOMPRESSED_FLAG) << 3;
  const header = windowBits === undefined ? block : window | (block << 4);
  return concatenate([Uint8Array.of(header, header >> 8, header >> 16), bytes]);
}

/** The bit behind the 16 bits of the length. */
const UNCOMPRESSED_FLAG = 1 << 16;
const LAST_METABLOCK = Uint8Array.of(3);

/** The encoder takes no smaller window at its lowest quality, and all parts of a body need the same. */
const SMALLEST_WINDOW_BITS = 18;
const LARGEST_WINDOW_BITS = 22;

/**
 * Returns the window of brotli, as a power of two: the largest that the shared part fills. After a full
 * window (2^bits - 16 bytes, RFC 7932, section 9.1) distances into brotli's dictionary are fixed, so
 * the locale part decodes after any shared part. The largest window would save a quarter of a percent.
 */
export function windowBitsFor(sharedBytes: number): number {
  const bits = Math.floor(Math.log2(sharedBytes));
  return Math.max(SMALLEST_WINDOW_BITS, Math.min(LARGEST_WINDOW_BITS, bits));
}
