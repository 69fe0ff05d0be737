/** Converts manifests of the previous format, which list the segments of each body. */
import { Buffer } from "node:buffer";
import type { Sha256Hex } from "../platform/units.ts";
import {
  type LocaleEntry,
  type Manifest,
  MANIFEST_FORMAT,
  type LocaleParts,
  type SharedParts,
  type StoredDiff,
  type StoredPart,
} from "./manifest.ts";

export const FORMER_FORMAT = 5;

/** A blob and its length as sent, or a few bytes in base64. */
type FormerSegment = readonly [sha256: Sha256Hex, bytes: number, isInflated?: true] | string;

/** The hash of a body, and the indexes of its segments. */
type FormerBody = readonly [sha256: Sha256Hex, ...segments: number[]];

/** Bodies by coding. */
interface FormerCodings {
  readonly identity: FormerBody;
  readonly gzip: FormerBody;
  readonly br?: FormerBody | undefined;
}

interface FormerEntry {
  readonly coverage: number;
  readonly bodies: {
    readonly [R in "proto" | "json" | "grpc-web" | "grpc-web-json"]: FormerCodings;
  };
}

/** Dictionary deltas, which may also be there, are ignored. */
interface FormerDiff extends StoredDiff {
  readonly deltas?: unknown;
}

type Head = Omit<Manifest, "format" | "shared" | "locales" | "diffs"> & {
  readonly segments: readonly FormerSegment[];
};

/** The form in the coordinator's tables and backups. */
export interface FormerManifest extends Head {
  readonly format: typeof FORMER_FORMAT;
  readonly diffs: readonly FormerDiff[];
  readonly locales: { readonly [locale: string]: FormerEntry };
}

/** The form in KV and R2. The segments of a locale follow those of the head. */
export interface FormerLines {
  readonly format: typeof FORMER_FORMAT;
  readonly lines: readonly [
    Head & { readonly locales: readonly string[] },
    readonly FormerDiff[],
    ...(FormerEntry & { readonly segments: readonly FormerSegment[] })[],
  ];
}

/** Throws an Error if parts are missing. */
export function fromFormer({ segments, locales, ...head }: FormerManifest): Manifest {
  return convert(
    head,
    Object.entries(locales).map(([locale, entry]) => [locale, convertEntry(segments, entry)]),
  );
}

/** Throws an Error if parts are missing. */
export function fromFormerLines({ lines: [head, diffs, ...entries] }: FormerLines): Manifest {
  const { segments, locales, ...rest } = head;
  return convert(
    { ...rest, diffs },
    entries.map((entry, index) => [
      locales[index] ?? "",
      convertEntry([...segments, ...entry.segments], entry),
    ]),
  );
}

function convert(
  { diffs, ...head }: Omit<FormerManifest, "format" | "segments" | "locales">,
  entries: readonly (readonly [locale: string, ReturnType<typeof convertEntry>])[],
): Manifest {
  const [first] = entries;
  if (first === undefined) throw new Error("a manifest without a locale");
  return {
    ...head,
    format: MANIFEST_FORMAT,
    diffs: diffs.map(({ deltas: _deltas, ...diff }) => diff),
    shared: first[1].shared,
    locales: Object.fromEntries(entries.map(([locale, { entry }]) => [locale, entry])),
  };
}

function convertEntry(
  segments: readonly FormerSegment[],
  { coverage, bodies }: FormerEntry,
): { readonly shared: Manifest["shared"]; readonly entry: LocaleEntry } {
  const proto = convertForm(segments, bodies.proto, bodies["grpc-web"]);
  const json = convertForm(segments, bodies.json, bodies["grpc-web-json"]);
  return {
    shared: { proto: proto.shared, json: json.shared },
    entry: { coverage, parts: { proto: proto.locale, json: json.locale } },
  };
}

function convertForm(
  segments: readonly FormerSegment[],
  message: FormerCodings,
  framed: FormerCodings,
): { readonly shared: SharedParts; readonly locale: LocaleParts } {
  const partsOf = (body: FormerBody | undefined): readonly StoredPart[] =>
    (body?.slice(1) ?? []).flatMap((index) => {
      const segment = segments[Number(index)];
      return typeof segment === "object" ? [{ sha256: segment[0], bytes: segment[1] }] : [];
    });
  const [identity, plain] = partsOf(message.identity);
  const [gzip, localeGzip] = partsOf(message.gzip);
  const [br, localeBr] = partsOf(message.br);
  const [brInFrame, localeBrInFrame] = partsOf(framed.br);
  if (!identity || !plain || !gzip || !localeGzip) throw new Error("a body without its parts");
  // A part that decodes in one position only was made for a catalog smaller than brotli's window.
  const hasBr = localeBr?.sha256 === localeBrInFrame?.sha256;
  const crcOf = ([, ...indexes]: FormerBody) => checksumIn(segments[indexes.at(-1) ?? -1]);
  return {
    shared: { identity, gzip, ...(br && { br }), ...(brInFrame && { brInFrame }) },
    locale: {
      bytes: plain.bytes,
      gzip: localeGzip,
      ...(hasBr && localeBr && { br: localeBr }),
      digests: {
        identity: message.identity[0],
        gzip: message.gzip[0],
        ...(hasBr && message.br && { br: message.br[0] }),
      },
      crc32: { message: crcOf(message.gzip), framed: crcOf(framed.gzip) },
    },
  };
}

/** Reads the CRC-32 in the last bytes of a body in gzip. */
function checksumIn(segment: FormerSegment | undefined): number {
  const end = Buffer.from(typeof segment === "string" ? segment : "", "base64");
  return end.readUInt32LE(end.length - GZIP_TRAILER_BYTES);
}

/** A checksum and a length of four bytes each. */
const GZIP_TRAILER_BYTES = 8;
