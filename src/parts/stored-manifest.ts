/** The manifest in KV and R2: a line of JSON, and a line with its SHA-256. */
import { digestHex, sha256Hex } from "../catalog/bytes.ts";
import {
  isCount,
  isCrc32,
  isFileBytes,
  isFormat,
  isGeneration,
  isShare,
} from "../platform/ranges.ts";
import { FORMER_FORMAT, type FormerLines, fromFormerLines } from "./former-manifest.ts";
import { type Manifest, MANIFEST_FORMAT, type StoredPart } from "./manifest.ts";

/**
 * Serializes a manifest for the stores: JSON with `format`, so that a Worker of another format can name
 * it, and in the last line the SHA-256 of that JSON. A blob's key proves its bytes, but a manifest's
 * key is fixed. Without a checksum, a changed digit could be served, or keep an isolate from ever
 * updating.
 */
export function serializeManifest(manifest: Manifest): string {
  const json = JSON.stringify(manifest);
  return `${json}\n${sha256Hex(json)}`;
}

type OpenedManifest =
  | { readonly ok: true; readonly manifest: Manifest }
  /** `isTooOld`: a release before the last one has written it. */
  | { readonly ok: false; readonly problem: string; readonly isTooOld: boolean };

/**
 * Parses a stored manifest. The checksum proves its shape, because only `serializeManifest` makes one,
 * but not its numbers: they could be too high to publish above them, or to serve.
 */
export async function openManifest(text: Uint8Array<ArrayBuffer>): Promise<OpenedManifest> {
  const json = text.subarray(0, Math.max(0, text.lastIndexOf(LINE_FEED)));
  if (checksumOf(text) !== (await digestHex(json))) return damaged("its checksum is wrong");
  try {
    const stored: Manifest | FormerLines = JSON.parse(decode(json));
    if (stored.format === MANIFEST_FORMAT) return checked(stored);
    if (stored.format === FORMER_FORMAT) return checked(fromFormerLines(stored));
    return otherFormat(stored);
  } catch {
    return damaged(NO_MANIFEST);
  }
}

function otherFormat({ format }: { readonly format: unknown }): OpenedManifest {
  if (!isFormat(format)) return damaged(NO_MANIFEST);
  const problem = `it has format ${format}, and this Worker reads ${FORMER_FORMAT} and ${MANIFEST_FORMAT}`;
  const isTooOld = format < FORMER_FORMAT;
  return { ok: false, problem: isTooOld ? problem : `${problem}; ${NEWER}`, isTooOld };
}

const NO_MANIFEST = "it is not a manifest in JSON";
const NEWER = "deploy a Worker that reads it";

function damaged(problem: string): OpenedManifest {
  return { ok: false, problem, isTooOld: false };
}

function checked(manifest: Manifest): OpenedManifest {
  for (const [name, value, isInRange] of numbersOf(manifest))
    if (!isInRange(value)) return damaged(`its "${name}" is ${value}, which is out of range`);
  return { ok: true, manifest };
}

type StoredNumber = readonly [
  name: string,
  value: number | undefined,
  isInRange: (value: unknown) => boolean,
];

function* numbersOf(manifest: Manifest): Generator<StoredNumber> {
  const { generation, previous, counts, diffs, shared, locales } = manifest;
  yield ["generation", generation, isGeneration];
  if (previous !== null) yield ["previous", previous, isGeneration];
  for (const [list, count] of Object.entries(counts)) yield [list, count, isCount];
  for (const diff of diffs) yield ["generation", diff.generation, isGeneration];
  for (const parts of Object.values(shared)) yield* lengthsOf(Object.values(parts));
  for (const { coverage, parts, names } of Object.values(locales)) {
    yield ["coverage", coverage, isShare];
    yield* lengthsOf([names]);
    for (const { bytes, gzip, br, crc32 } of Object.values(parts)) {
      yield ["bytes", bytes, isFileBytes];
      yield* lengthsOf([gzip, br]);
      yield ["message", crc32.message, isCrc32];
      yield ["framed", crc32.framed, isCrc32];
    }
  }
}

function* lengthsOf(parts: readonly (StoredPart | undefined)[]): Generator<StoredNumber> {
  for (const part of parts) if (part !== undefined) yield ["bytes", part.bytes, isFileBytes];
}

export function checksumOf(text: Uint8Array): string {
  return decode(text.subarray(text.lastIndexOf(LINE_FEED) + 1));
}

function decode(text: Uint8Array): string {
  return new TextDecoder().decode(text);
}

const LINE_FEED = 0x0a;
