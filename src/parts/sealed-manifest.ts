/**
 * The manifest in KV and R2: JSON in lines, and the seal. The first line has the head, the second the
 * diffs, each further one a locale. An isolate's first request parses the head and one locale, because
 * parsing all takes longer than the rest of its work with the manifest.
 */
import { digestHex, sha256Hex } from "../catalog/bytes.ts";
import { FORMER_FORMAT, type FormerLines, fromFormerLines } from "./former-manifest.ts";
import { type LocaleEntry, type Manifest, MANIFEST_FORMAT } from "./manifest.ts";
import {
  isCount,
  isCrc32,
  isFileBytes,
  isFormat,
  isGeneration,
  isShare,
} from "../platform/ranges.ts";

/** The text before the seal is JSON with `format`, so that a Worker of another format can name it. */
const firstLine = (format: number) => `{"format":${format},"lines":[`;
const LAST_LINE = "]}";

interface Head extends Omit<Manifest, "format" | "diffs" | "locales"> {
  /** In the order of their lines. */
  readonly locales: readonly string[];
}

/**
 * Serializes a manifest for the stores. The seal is the hash of the lines before. A blob's
 * key proves its bytes, but a manifest's key is fixed. Without the seal a changed digit would be
 * served, or a wrong generation would keep an isolate from ever updating.
 */
export function sealManifest({ format, diffs, locales, ...rest }: Manifest): string {
  const head: Head = { ...rest, locales: Object.keys(locales) };
  const lines = [head, diffs, ...Object.values(locales)].map((line) => JSON.stringify(line));
  const json = `${firstLine(format)}\n${lines.join(",\n")}\n${LAST_LINE}`;
  return `${json}\n${sha256Hex(json)}`;
}

type OpenedManifest =
  | { readonly ok: true; readonly manifest: Manifest }
  /** `isTooOld`: a release before the last one has written it. */
  | { readonly ok: false; readonly problem: string; readonly isTooOld: boolean };

/**
 * Parses a sealed manifest. The seal proves its shape, because only `sealManifest` makes seals, but not
 * its numbers: nobody could publish above some of them, or serve what others describe.
 */
export async function openManifest(text: Uint8Array<ArrayBuffer>): Promise<OpenedManifest> {
  const json = text.subarray(0, Math.max(0, text.lastIndexOf(LINE_FEED)));
  if (sealOf(text) !== (await digestHex(json))) return damaged("its checksum is wrong");
  const [first, ...lines] = splitLines(json);
  try {
    if (decode(first) === firstLine(MANIFEST_FORMAT))
      return checked(fromLines(lines), decode(json));
    const stored: FormerLines = JSON.parse(decode(json));
    const { format } = stored;
    if (format === FORMER_FORMAT) {
      const manifest = fromFormerLines(stored);
      return checked(manifest, JSON.stringify(manifest));
    }
    if (!isFormat(format)) return damaged(NO_MANIFEST);
    const problem = `it has format ${format}, and this Worker reads ${FORMER_FORMAT} and ${MANIFEST_FORMAT}`;
    const isTooOld = format < FORMER_FORMAT;
    return { ok: false, problem: isTooOld ? problem : `${problem}; ${NEWER}`, isTooOld };
  } catch {
    return damaged(NO_MANIFEST);
  }
}

const NO_MANIFEST = "it is not a manifest in JSON";

function damaged(problem: string): OpenedManifest {
  return { ok: false, problem, isTooOld: false };
}

/** Refuses numbers outside their ranges: those of the head, and in the text those of the other lines. */
function checked(manifest: Manifest, json: string): OpenedManifest {
  const { generation, previous, counts } = manifest;
  const inHead = [
    ...(isGeneration(generation) ? [] : [`generation ${generation}`]),
    ...(previous === null || isGeneration(previous) ? [] : [`previous ${previous}`]),
    ...Object.entries(counts).flatMap(([list, count]) =>
      isCount(count) ? [] : [`${list} ${count}`],
    ),
  ];
  const [wrong = findWrong(json)] = inHead;
  if (wrong === undefined) return { ok: true, manifest };
  return damaged(`it has the number ${wrong}, which is out of range`);
}

const RANGES: { readonly [name: string]: (value: unknown) => boolean } = {
  generation: isGeneration,
  bytes: isFileBytes,
  message: isCrc32,
  framed: isCrc32,
  coverage: isShare,
};

/** Finds a number out of range in the text: parsing every line would take several times as long. */
function findWrong(json: string): string | undefined {
  for (const [text, name = "", value] of json.matchAll(NUMBER))
    if (RANGES[name]?.(Number(value)) !== true) return text;
  return undefined;
}

const NUMBER = /"(generation|bytes|message|framed|coverage)":([^,}]*)/g;

const NEWER = "deploy a Worker that reads it";

function fromLines([first, diffs, ...entries]: readonly Uint8Array[]): Manifest {
  const { locales: names, ...rest }: Head = JSON.parse(jsonOf(first));
  const locales: { readonly [locale: string]: LocaleEntry } = {};
  for (const [index, locale] of names.entries())
    defineLazily(locales, locale, () => JSON.parse(jsonOf(entries[index])));
  const manifest: Manifest = { ...rest, format: MANIFEST_FORMAT, diffs: [], locales };
  defineLazily(manifest, "diffs", () => JSON.parse(jsonOf(diffs)));
  return manifest;
}

/** Defines a property whose value is made once, when it is first read. */
function defineLazily(target: object, name: string, make: () => unknown): void {
  Object.defineProperty(target, name, {
    configurable: true,
    enumerable: true,
    get() {
      const value = make();
      Object.defineProperty(target, name, { value });
      return value;
    },
  });
}

function jsonOf(line: Uint8Array | undefined): string {
  const text = decode(line);
  return text.endsWith(",") ? text.slice(0, -1) : text;
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

const LINE_FEED = 0x0a;
