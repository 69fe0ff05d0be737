/** Makes parts as an ingest does, in any runtime. */
import { lengthOf, sha256Hex } from "../../src/catalog/bytes.ts";
import { type EncodedPart, type Form, FORMS } from "../../src/catalog/encode.ts";
import { compressPart, crc32Of, type Effort } from "../../src/parts/codings.ts";
import {
  type Body,
  composeBody,
  messageEdges,
  rawMetablock,
  REPRESENTATIONS,
  windowBitsFor,
} from "../../src/parts/compose.ts";
import { messageFrameHeader, SUCCESS_TRAILER_FRAME } from "../../src/parts/framing.ts";
import {
  type Coding,
  CODINGS,
  type LocaleEntry,
  type Manifest,
  type LocaleParts,
  type SharedParts,
  type StoredPart,
} from "../../src/parts/manifest.ts";

type Bytes = Uint8Array<ArrayBuffer>;

/** The parts of a version, and their blobs by SHA-256 (hex). */
export interface MadeParts extends Pick<Manifest, "shared" | "locales"> {
  readonly blobs: [sha256: string, bytes: Bytes][];
}

interface PartsOptions {
  /** Codings besides identity; both by default. Brotli is not compressed: Node cannot join it. */
  readonly codings?: readonly Coding[];
  readonly coverage?: number;
}

export function makeParts(
  shared: EncodedPart,
  locals: { readonly [locale: string]: EncodedPart },
  { codings = CODINGS, coverage = 0.5 }: PartsOptions = {},
): MadeParts {
  const blobs: MadeParts["blobs"] = [];
  const hasBr = codings.includes("br");
  const store = (bytes: Uint8Array): StoredPart => {
    const sha256 = sha256Hex(bytes);
    blobs.push([sha256, Uint8Array.from(bytes)]);
    return { sha256, bytes: bytes.length };
  };
  const gzip = (bytes: Uint8Array, effort: Effort = "fast") =>
    compressPart({ bytes, coding: "gzip", offset: 0, windowBits: 0, effort });
  const sharedOf = (form: Form): SharedParts => {
    const bytes = shared[form];
    const br = hasBr && {
      br: store(rawMetablock(bytes, windowBitsFor(bytes.length))),
      brInFrame: store(rawMetablock(bytes)),
    };
    return { identity: store(bytes), gzip: store(gzip(bytes)), ...br };
  };
  const localePartsOf = (local: EncodedPart, form: Form): LocaleParts => {
    const bytes = local[form];
    const message = [shared[form], bytes];
    const crc32 = {
      message: crc32Of(message),
      framed: crc32Of([messageFrameHeader(lengthOf(message)), ...message, SUCCESS_TRAILER_FRAME]),
    };
    const hash = (coding: Coding, parts: readonly Uint8Array[]) => {
      const sharedBytes = shared[form].length;
      const between = { sharedBytes, bytes: lengthOf(message), crc32: crc32.message };
      const [open, close] = messageEdges(coding, between);
      return sha256Hex(open, ...parts, close);
    };
    const br = rawMetablock(bytes);
    const startBr = rawMetablock(shared[form], windowBitsFor(shared[form].length));
    return {
      bytes: bytes.length,
      gzip: store(gzip(bytes)),
      ...(hasBr && { br: store(br) }),
      digests: {
        identity: hash("identity", message),
        gzip: hash("gzip", [gzip(shared[form]), gzip(bytes)]),
        ...(hasBr && { br: hash("br", [startBr, br]) }),
      },
      crc32,
    };
  };
  const ofForms = <T>(make: (form: Form) => T) =>
    Object.fromEntries(FORMS.map((form) => [form, make(form)])) as { [F in Form]: T }; // one for each
  const entries = Object.entries(locals).map(([locale, local]): [string, LocaleEntry] => [
    locale,
    { coverage, parts: ofForms((form) => localePartsOf(local, form)) },
  ]);
  return { shared: ofForms(sharedOf), locales: Object.fromEntries(entries), blobs };
}

/** Every body of a version, or of one locale of it. */
export function bodiesOf(
  manifest: Manifest,
  locales: readonly string[] = Object.keys(manifest.locales),
): readonly Body[] {
  return locales.flatMap((locale) =>
    REPRESENTATIONS.flatMap((representation) =>
      ([...CODINGS, "grpc-br", "grpc-gzip"] as const).flatMap(
        (coding) => composeBody(manifest, { locale, representation, coding }) ?? [],
      ),
    ),
  );
}
