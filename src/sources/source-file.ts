import { parseHttpDate } from "../platform/http-dates.ts";
import { node } from "../platform/node.ts";
import type { Day, EpochMs } from "../platform/units.ts";
import { SourceError } from "./source-error.ts";

/** OurAirports' files. */
export const TABLES = ["airports.csv", "regions.csv"] as const;
export type Table = (typeof TABLES)[number];

/** Possible names of an upstream file, plain and gzip. */
export const fileNames = (plain: string): readonly string[] => [plain, `${plain}.gz`];

/** Finds an upstream file by its name without `.gz`. */
export function findFile<T>(
  plain: string,
  files: { readonly [name: string]: T },
): { readonly name: string; readonly file: T } | undefined {
  for (const name of fileNames(plain)) {
    const file = files[name];
    if (file !== undefined) return { name, file };
  }
  return undefined;
}

/** Two larger files do not fit into an isolate beside the catalog. */
export const FILE_MAX_BYTES = 32 * 1024 * 1024;

/** @throws SourceError `bad_encoding` or `too_large`. */
export async function decodeFile(
  name: string,
  bytes: ReadableStream<Uint8Array>,
): Promise<ReadableStream<Uint8Array>> {
  if (!name.endsWith(".gz")) return bytes;
  const whole = new Uint8Array(await new Response(bytes).arrayBuffer());
  return new Blob([gunzipAtMost(name, whole, FILE_MAX_BYTES)]).stream();
}

/**
 * Names a table's file by its content. Checks that it looks like CSV of at most `maxBytes`.
 *
 * @param where name of the file in messages.
 * @throws SourceError `empty`, `not_csv` (an error page, an archive), `bad_encoding` (gzip that is
 * broken or in gzip), `not_utf8` (UTF-16) or `too_large`.
 */
export function nameFile(
  table: Table,
  { where, bytes, maxBytes }: { where: string; bytes: Uint8Array; maxBytes: number },
): string {
  const isCompressed = startsWith(bytes, GZIP);
  const text = isCompressed ? gunzipAtMost(where, bytes, maxBytes) : bytes;
  if (text.length > maxBytes) throw tooLarge(where, maxBytes);
  for (const { start, fault, what } of OTHER_FORMATS)
    if (startsWith(text, start)) throw new SourceError(fault, `${where} ${what}`);
  const first = text.find((byte) => !BLANKS.has(byte));
  if (first === undefined)
    throw new SourceError("empty", `${where} is empty; look at it in a browser`);
  if (first === LESS_THAN)
    throw new SourceError(
      "not_csv",
      `${where} holds a page (it begins with "<") instead of CSV; look at it in a browser`,
    );
  return isCompressed ? `${table}.gz` : table;
}

/** Decompresses in one piece, up to `maxBytes`: workerd decompresses all of a stream anyway. */
function gunzipAtMost(where: string, bytes: Uint8Array, maxBytes: number): Uint8Array<ArrayBuffer> {
  try {
    return node.zlib.gunzipSync(bytes, { maxOutputLength: maxBytes });
  } catch (cause) {
    if (cause instanceof RangeError) throw tooLarge(where, maxBytes);
    throw new SourceError(
      "bad_encoding",
      `${where} is truncated or damaged gzip (${String(cause)}); compress it again`,
    );
  }
}

export function tooLarge(where: string, maxBytes: number, announced?: number): SourceError {
  const what = announced === undefined ? "is larger than" : `announces ${announced} bytes, over`;
  return new SourceError(
    "too_large",
    `${where} ${what} the limit of ${maxBytes} bytes; if you intend this, raise the limit`,
  );
}

const GZIP = [0x1f, 0x8b];

/** Start bytes of formats that are often sent in place of CSV, with advice on each. */
const OTHER_FORMATS: readonly {
  readonly start: readonly number[];
  readonly fault: "not_csv" | "bad_encoding" | "not_utf8";
  readonly what: string;
}[] = [
  { start: GZIP, fault: "bad_encoding", what: "is gzip within gzip; compress it once only" },
  { start: [0x50, 0x4b, 3, 4], fault: "not_csv", what: "is a zip archive; unpack the CSV in it" },
  { start: [0xff, 0xfe], fault: "not_utf8", what: "is UTF-16; save it as UTF-8" },
  { start: [0xfe, 0xff], fault: "not_utf8", what: "is UTF-16; save it as UTF-8" },
];

function startsWith(bytes: Uint8Array, start: readonly number[]): boolean {
  return start.every((byte, index) => bytes[index] === byte);
}

const LESS_THAN = 0x3c;
/** White space and the bytes of a byte order mark. */
const BLANKS: ReadonlySet<number> = new Set([0x20, 0x09, 0x0a, 0x0d, 0xef, 0xbb, 0xbf]);

function dayOf(date: Date): Day {
  return date.toISOString().slice(0, 10);
}

/** Whether a text is a day from 1970 on that is not in the future. */
export function isPastDay(text: string, now: EpochMs): boolean {
  const at = Date.parse(`${text}T00:00:00.000Z`);
  return at >= 0 && at <= now && dayOf(new Date(at)) === text;
}

/** Dates the content of an HTTP response by Last-Modified; empty if that says no past day from 1970 on. */
export function dated(lastModified: string | undefined, now: EpochMs): { readonly as_of?: Day } {
  const at = parseHttpDate(lastModified, now);
  return at !== null && at >= 0 && at <= now ? { as_of: dayOf(new Date(at)) } : {};
}
