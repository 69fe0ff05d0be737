/**
 * The manifest in KV and R2: lines of JSON, and the seal. The first line is the head, the second has
 * the diffs, and each other one a locale. The first request of an isolate parses the head and one
 * locale; text that it decodes beyond these costs it more than all else that it does with the manifest.
 */
import { Buffer } from "node:buffer";
import { digestHex, sha256Hex } from "./bytes.ts";
import {
  defineLazily,
  fromStored,
  type LocaleEntry,
  type Manifest,
  MANIFEST_FORMAT,
  mapLazily,
  mapValues,
  readEntry,
  type SegmentEntry,
  SegmentList,
  type StoredEntry,
  type StoredManifest,
} from "./manifest.ts";

/**
 * Raise it with each change of the text. A Worker that shall serve during the upgrade reads the
 * format before as well.
 */
export const SEALED_FORMAT = 3;

interface Head extends Omit<StoredManifest, "diffs" | "locales"> {
  readonly format: typeof SEALED_FORMAT;
  /** In the order of their lines. */
  readonly locales: readonly string[];
}

/** The line of a locale. Its indexes count the segments of the head, and then these. */
interface LocaleLine extends StoredEntry {
  readonly segments: readonly SegmentEntry[];
}

/**
 * Serializes a manifest for the stores. The last line is the SHA-256 (hex) of those before. A blob's
 * key proves its bytes, but a manifest's key is fixed. Without the seal a changed digit would be
 * served, or a wrong generation would keep an isolate from ever updating.
 */
export function sealManifest({ diffs, locales, ...rest }: Manifest): string {
  const segments = sharedSegments(Object.values(locales));
  const head: Head = {
    ...rest,
    format: SEALED_FORMAT,
    segments,
    locales: Object.keys(locales),
  };
  const entries = Object.values(locales).map((entry): LocaleLine => {
    const list = new SegmentList(segments);
    return { ...list.store(entry), segments: list.segments.slice(segments.length) };
  });
  const text = [head, diffs, ...entries].map((line) => JSON.stringify(line)).join("\n");
  return `${text}\n${sha256Hex(text)}`;
}

/** Lists the segments that several locales have. */
function sharedSegments(entries: readonly LocaleEntry[]): readonly SegmentEntry[] {
  const all = entries.flatMap((entry) => {
    const list = new SegmentList();
    list.store(entry);
    return list.segments;
  });
  const same = [...Map.groupBy(all, String).values()];
  return same.flatMap(([segment, ...others]) => {
    const isShared = segment !== undefined && others.length > 0;
    return isShared ? [segment] : [];
  });
}

type OpenedManifest =
  | { readonly ok: true; readonly manifest: Manifest }
  | { readonly ok: false; readonly problem: string };

/** Parses a sealed manifest. The seal proves its shape, because only `sealManifest` makes seals. */
export async function openManifest(text: Uint8Array<ArrayBuffer>): Promise<OpenedManifest> {
  const sealed = text.subarray(0, Math.max(0, text.lastIndexOf(LINE_FEED)));
  if (sealOf(text) !== (await digestHex(sealed)))
    return { ok: false, problem: "the seal does not fit" };
  const [first, ...others] = splitLines(sealed);
  const head: Head | FormerManifest = JSON.parse(decode(first));
  const { format }: { readonly format: number } = head;
  switch (head.format) {
    case SEALED_FORMAT:
      return { ok: true, manifest: fromLines(head, others) };
    case 2:
      return { ok: true, manifest: fromStored(withoutStrings(head)) };
    case MANIFEST_FORMAT:
      return { ok: true, manifest: fromStored(head) };
    default: {
      head satisfies never;
      const problem = `it has format ${format}, and this Worker reads formats up to ${SEALED_FORMAT}; deploy a Worker that reads it`;
      return { ok: false, problem };
    }
  }
}

function fromLines({ segments, locales, ...rest }: Head, lines: readonly Uint8Array[]): Manifest {
  const [diffs, ...entries] = lines;
  const texts = Object.fromEntries(locales.map((locale, index) => [locale, entries[index]]));
  const manifest: Manifest = {
    ...rest,
    format: MANIFEST_FORMAT,
    diffs: [],
    locales: mapLazily(texts, (text) => {
      const { segments: own, ...entry }: LocaleLine = JSON.parse(decode(text));
      return readEntry([...segments, ...own], entry);
    }),
  };
  defineLazily(manifest, "diffs", () => JSON.parse(decode(diffs)));
  sealedTexts.set(manifest, texts);
  return manifest;
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

/** A manifest of an earlier release: format 1 is as the coordinator stores it. */
type FormerManifest =
  (StoredManifest & { readonly format: typeof MANIFEST_FORMAT }) | StringsManifest;

/** Format 2: the diffs and each locale are JSON in a string. */
interface StringsManifest extends Omit<StoredManifest, "diffs" | "locales"> {
  readonly format: 2;
  readonly diffs: string;
  readonly locales: { readonly [locale: string]: string };
}

function withoutStrings({ diffs, locales, ...rest }: StringsManifest): StoredManifest {
  return {
    ...rest,
    diffs: JSON.parse(diffs),
    locales: mapValues(locales, (text) => JSON.parse(text)),
  };
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
