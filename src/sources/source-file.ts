import { gunzip } from "./snapshot.ts";
import { SourceError } from "./source-error.ts";

/** Upstream files that a catalog is built from. */
export const TABLES = ["airports.csv", "regions.csv"] as const;
export type Table = (typeof TABLES)[number];

/** Names that a table's file may have: plain or gzip, which the ending alone decides. */
export const fileNames = (table: Table): readonly string[] => [table, `${table}.gz`];

/** Finds a table's file among files by name. */
export function findFile<T>(
  table: Table,
  files: { readonly [name: string]: T },
): { readonly name: string; readonly file: T } | undefined {
  for (const name of fileNames(table)) {
    const file = files[name];
    if (file !== undefined) return { name, file };
  }
  return undefined;
}

/** The CSV in a file, by the ending of its name. */
export function decodeFile(
  name: string,
  bytes: ReadableStream<Uint8Array>,
): ReadableStream<Uint8Array> {
  return name.endsWith(".gz") ? gunzip(bytes) : bytes;
}

/**
 * Names a table's file by what its bytes are, once they look like CSV of at most `maxBytes`.
 *
 * @param where what messages call the file.
 * @throws SourceError `empty`, `not_csv` (an error page), `bad_encoding` (broken gzip) or
 * `too_large`.
 */
export async function nameFile(
  table: Table,
  { where, bytes, maxBytes }: { where: string; bytes: Uint8Array; maxBytes: number },
): Promise<string> {
  const name = isGzip(bytes) ? `${table}.gz` : table;
  let length = 0;
  let first: number | undefined;
  for await (const chunk of decoded(where, name, bytes)) {
    length += chunk.length;
    if (length > maxBytes) throw tooLarge(where, maxBytes);
    first ??= chunk.find((byte) => !BLANKS.has(byte));
  }
  if (first === undefined)
    throw new SourceError("empty", `${where} is empty; look at it in a browser`);
  if (first === LESS_THAN)
    throw new SourceError(
      "not_csv",
      `${where} holds a page (it begins with "<") instead of CSV; look at it in a browser`,
    );
  return name;
}

/** The error for a file of more than `maxBytes`. */
export function tooLarge(where: string, maxBytes: number, announced?: number): SourceError {
  const what = announced === undefined ? "is larger than" : `announces ${announced} bytes, over`;
  return new SourceError(
    "too_large",
    `${where} ${what} the limit of ${maxBytes} bytes; if it is meant to be, raise the limit`,
  );
}

const LESS_THAN = 0x3c;
/** White space, and the bytes of a byte order mark. */
const BLANKS: ReadonlySet<number> = new Set([0x20, 0x09, 0x0a, 0x0d, 0xef, 0xbb, 0xbf]);

function isGzip(bytes: Uint8Array): boolean {
  return bytes[0] === 0x1f && bytes[1] === 0x8b;
}

async function* decoded(
  where: string,
  name: string,
  bytes: Uint8Array,
): AsyncGenerator<Uint8Array> {
  const reader = decodeFile(name, inPieces(bytes)).getReader();
  try {
    for (;;) {
      const piece = await reader.read().catch((cause: unknown) => {
        throw new SourceError(
          "bad_encoding",
          `${where} is gzip that breaks off or is damaged (${String(cause)}); compress it again`,
        );
      });
      if (piece.done) return;
      yield piece.value;
    }
  } finally {
    await reader.cancel().catch(() => {});
  }
}

/** A decoder swells a piece up to a thousandfold at once. */
const PIECE_BYTES = 4096;

function inPieces(bytes: Uint8Array): ReadableStream<Uint8Array> {
  let offset = 0;
  return new ReadableStream({
    pull(controller) {
      if (offset >= bytes.length) return controller.close();
      controller.enqueue(bytes.slice(offset, offset + PIECE_BYTES));
      offset += PIECE_BYTES;
    },
  });
}
