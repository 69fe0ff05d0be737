/**
 * The manifest in KV and R2: JSON in lines, and the seal. A line has the head, the next one the diffs,
 * and each other one a locale. The first request of an isolate parses the head and one locale; parsing
 * the others would take it longer than everything else that it does with the manifest.
 */
import { Buffer } from "node:buffer";
import { digestHex, sha256Hex } from "./bytes.ts";
import {
  defineLazily,
  type LocaleEntry,
  type Manifest,
  MANIFEST_FORMAT,
  mapLazily,
  OLDEST_MANIFEST_FORMAT,
  readEntry,
  type SegmentEntry,
  SegmentList,
  type StoredEntry,
  type StoredManifest,
} from "./manifest.ts";

/** What precedes the seal is a JSON object with `format`, so that another Worker says which one it met. */
const firstLine = (format: number) => `{"format":${format},"lines":[`;
const READ_LINES = [MANIFEST_FORMAT, OLDEST_MANIFEST_FORMAT].map(firstLine);
const LAST_LINE = "]}";

interface Head extends Omit<StoredManifest, "diffs" | "locales"> {
  /** In the order of their lines. */
  readonly locales: readonly string[];
}

/** The line of a locale. Its indexes count the segments of the head, and then these. */
interface LocaleLine extends StoredEntry {
  readonly segments: readonly SegmentEntry[];
}

/**
 * Serializes a manifest for the stores. The seal is the SHA-256 (hex) of the lines before. A blob's
 * key proves its bytes, but a manifest's key is fixed. Without the seal a changed digit would be
 * served, or a wrong generation would keep an isolate from ever updating.
 */
export function sealManifest({ diffs, locales, ...rest }: Manifest): string {
  const segments = sharedSegments(Object.values(locales));
  const head: Head = { ...rest, segments, locales: Object.keys(locales) };
  const entries = Object.values(locales).map((entry): LocaleLine => {
    const list = new SegmentList(segments);
    return { ...list.store(entry), segments: list.segments.slice(segments.length) };
  });
  const lines = [head, diffs, ...entries].map((line) => JSON.stringify(line));
  const json = `${firstLine(MANIFEST_FORMAT)}\n${lines.join(",\n")}\n${LAST_LINE}`;
  return `${json}\n${sha256Hex(json)}`;
}

/** Lists the segments that several locales have. */
function sharedSegments(entries: readonly LocaleEntry[]): readonly SegmentEntry[] {
  const all = entries.flatMap((entry) => {
    const list = new SegmentList();
    list.store(entry);
    return list.segments;
  });
  const same = [...Map.groupBy(all, String).values()];
  return same.filter(({ length }) => length > 1).map(([segment]) => segment as SegmentEntry); // of two or more
}

type OpenedManifest =
  | { readonly ok: true; readonly manifest: Manifest }
  /** `isFormer`: an earlier release has written it. */
  | { readonly ok: false; readonly problem: string; readonly isFormer: boolean };

/** Parses a sealed manifest. The seal proves its shape, because only `sealManifest` makes seals. */
export async function openManifest(text: Uint8Array<ArrayBuffer>): Promise<OpenedManifest> {
  const json = text.subarray(0, Math.max(0, text.lastIndexOf(LINE_FEED)));
  if (sealOf(text) !== (await digestHex(json)))
    return { ok: false, problem: "the seal does not fit", isFormer: false };
  const [first, ...lines] = splitLines(json);
  try {
    if (READ_LINES.includes(decode(first))) return { ok: true, manifest: fromLines(lines) };
    const { format }: { readonly format: number } = JSON.parse(decode(json));
    const problem = `it has format ${format}, and this Worker reads ${OLDEST_MANIFEST_FORMAT} to ${MANIFEST_FORMAT}`;
    const isFormer = format < OLDEST_MANIFEST_FORMAT;
    return { ok: false, problem: isFormer ? problem : `${problem}; ${NEWER}`, isFormer };
  } catch {
    return { ok: false, problem: "it is not JSON", isFormer: false };
  }
}

const NEWER = "deploy a Worker that reads it";

function fromLines([first, diffs, ...entries]: readonly Uint8Array[]): Manifest {
  const { segments, locales, ...rest }: Head = JSON.parse(jsonOf(first));
  const texts = Object.fromEntries(locales.map((locale, index) => [locale, entries[index]]));
  const manifest: Manifest = {
    ...rest,
    format: MANIFEST_FORMAT,
    diffs: [],
    locales: mapLazily(texts, (text) => {
      const { segments: own, ...entry }: LocaleLine = JSON.parse(jsonOf(text));
      return readEntry([...segments, ...own], entry);
    }),
  };
  defineLazily(manifest, "diffs", () => JSON.parse(jsonOf(diffs)));
  sealedTexts.set(manifest, texts);
  return manifest;
}

/** Returns the JSON of a line. */
function jsonOf(line: Uint8Array | undefined): string {
  const text = decode(line);
  return text.endsWith(",") ? text.slice(0, -1) : text;
}

/** What each locale of a manifest was read from. */
const sealedTexts = new WeakMap<Manifest, { readonly [locale: string]: Uint8Array | undefined }>();

/** Lists the locales that may have a body of this hash (SHA-256, hex), without parsing the others. */
export function findLocalesOf(manifest: Manifest, sha256: string): readonly string[] {
  const texts = sealedTexts.get(manifest) ?? {};
  return Object.keys(manifest.locales).filter((locale) => {
    const text = texts[locale];
    return text === undefined || bufferOf(text).includes(sha256);
  });
}

/** Returns the last line of a sealed manifest, unverified. Two intact texts with one seal are equal. */
export function sealOf(text: Uint8Array): string {
  return decode(text.subarray(text.lastIndexOf(LINE_FEED) + 1));
}

function splitLines(text: Uint8Array): readonly Uint8Array[] {
  const lines: Uint8Array[] = [];
  let start = 0;
  for (let end = 0; end !== -1; start = end + 1) {
    end = text.indexOf(LINE_FEED, start);
    lines.push(text.subarray(start, end === -1 ? undefined : end));
  }
  return lines;
}

function decode(text: Uint8Array | undefined): string {
  return new TextDecoder().decode(text);
}

function bufferOf({ buffer, byteOffset, length }: Uint8Array): Buffer {
  return Buffer.from(buffer, byteOffset, length);
}

const LINE_FEED = 0x0a;
