import { Buffer } from "node:buffer";
import { setImmediate as nextTurn } from "node:timers/promises";
import { CsvError, parse } from "csv-parse/stream";
import { asEvidence } from "../catalog/evidence.ts";
import { SourceError } from "./source-error.ts";

/** Longest quoted message of the parser, which may quote the file. */
const MESSAGE_MAX_LENGTH = 200;
/** Longest quoted column name. */
const NAME_MAX_LENGTH = 50;
/** Longest row and longest line in characters. Rows of the live file have a few thousand. */
const ROW_MAX_CHARACTERS = 262_144;
/** A UTF-16 unit takes at most three bytes in UTF-8. */
const UTF8_MAX_BYTES = 3;
/** Marks of a missing value in exports. In these files, `NAN` is Nadi and `NA` is Namibia. */
const NULL_MARK = /^\s*(?:\\N|NULL|null|NaN|nan|-+|[–—]|[Nn]\/[Aa]|#N\/A|<NA>)\s*$/u;
/** Longest null mark with its white space. A longer value is none. */
const NULL_MARK_MAX = 20;
/** Rows after which other requests have their turn: the coordinator reads files of 80,000. */
const ROWS_IN_A_TURN = 1000;
/** The parser builds all rows of a piece at once, which takes a hundred times its bytes. */
const PIECE_BYTES = 4096;

/**
 * Reads CSV (RFC 4180, UTF-8, with or without a byte order mark, LF or CRLF) row by row. Buffers at
 * most one chunk and the rows of a piece.
 *
 * @throws SourceError `not_utf8`, `missing_columns`, `malformed_csv`, or `truncated` if the last row is
 * incomplete.
 */
export async function* readCsv(
  file: string,
  bytes: ReadableStream<Uint8Array>,
  requiredColumns: readonly string[],
): AsyncGenerator<CsvRow> {
  let columns: ReadonlyMap<string, number> | undefined;
  let lastText = "";
  const remember = async function* () {
    for await (const text of boundLines(file, decodeUtf8(file, bytes))) yield (lastText = text);
  };
  try {
    let incomplete: number | undefined;
    let rows = 0;
    for await (const { record, line } of parseRows(remember())) {
      if (columns === undefined) {
        columns = readHeader(file, record, requiredColumns);
        continue;
      }
      incomplete = record.length === columns.size ? undefined : line;
      if (++rows % ROWS_IN_A_TURN === 0) await nextTurn();
      yield new CsvRow(line, record, columns);
    }
    if (incomplete !== undefined && !lastText.endsWith("\n"))
      throw new SourceError("truncated", `${file} is truncated in the row of line ${incomplete}`);
  } catch (error) {
    throw asSourceError(file, error);
  }
  if (columns === undefined)
    throw new SourceError(
      "missing_columns",
      `${file} has no header row; check that it is the right file`,
    );
}

/** Parses CSV. Takes the rows of a piece from the parser at once: a stream of rows costs twice as much. */
async function* parseRows(texts: AsyncIterable<string>): AsyncGenerator<ParsedRow> {
  const rows: ParsedRow[] = [];
  const { readable, writable } = parse({
    bom: true,
    relax_column_count: true,
    max_record_size: ROW_MAX_CHARACTERS * UTF8_MAX_BYTES,
    on_record(record: readonly string[], { lines }) {
      rows.push({ record, line: lines });
      return null;
    },
  });
  const writer = writable.getWriter();
  for await (const text of texts) {
    await writer.write(Buffer.from(text));
    yield* rows.splice(0);
    await writer.ready; // rejects if the parser met a fault, which the write does not
  }
  await writer.close();
  await readable.getReader().closed; // rejects on workerd too, where the close does not
  yield* rows.splice(0);
}

interface ParsedRow {
  readonly record: readonly string[];
  readonly line: number;
}

/** A row below the header. Values are not trimmed. */
export class CsvRow {
  /** Last line of the row in the file, from 1. */
  readonly line: number;
  readonly #values: readonly string[];
  readonly #columns: ReadonlyMap<string, number>;

  constructor(line: number, values: readonly string[], columns: ReadonlyMap<string, number>) {
    this.line = line;
    this.#values = values;
    this.#columns = columns;
  }

  /** False if the row has more or fewer values than the header. */
  get complete(): boolean {
    return this.#values.length === this.#columns.size;
  }

  /** Returns the value of a column, or "" if the file or the row lacks it or has a null mark (`\N`). */
  get(column: string): string {
    const value = this.#values[this.#columns.get(column) ?? -1] ?? "";
    return value.length <= NULL_MARK_MAX && NULL_MARK.test(value) ? "" : value;
  }
}

function readHeader(
  file: string,
  header: readonly string[],
  requiredColumns: readonly string[],
): ReadonlyMap<string, number> {
  const names = header.map((name) => name.trim());
  const columns = new Map(names.map((name, index) => [name, index]));
  const twice = names.find((name, index) => columns.get(name) !== index);
  const missing = requiredColumns.filter((column) => !columns.has(column));
  if (twice !== undefined)
    throw new SourceError(
      "malformed_csv",
      `${file} has two columns "${asEvidence(twice, NAME_MAX_LENGTH)}"; check that it is the right file`,
    );
  if (missing.length > 0)
    throw new SourceError(
      "missing_columns",
      `${file} lacks the columns ${missing.join(", ")}: it begins with “${asEvidence(header.join(","), NAME_MAX_LENGTH)}”; ${adviseOn(header)}`,
    );
  return columns;
}

/** Advises on a file with an unknown header. */
function adviseOn([first = "", ...others]: readonly string[]): string {
  if (first.startsWith("version https://git-lfs."))
    return "it only points to the file in Git LFS: take that file";
  const separator = [";", "\t", "|"].find((sign) => others.length === 0 && first.includes(sign));
  if (separator === undefined) return "check that it is the right file, with a header row";
  return `its values are separated by “${separator === "\t" ? "tab" : separator}”: separate them by commas`;
}

function asSourceError(file: string, error: unknown): unknown {
  if (error instanceof CsvError)
    return error.code === "CSV_QUOTE_NOT_CLOSED"
      ? new SourceError("truncated", `${file} is truncated within quotes`)
      : new SourceError(
          "malformed_csv",
          `${file}: ${asEvidence(error.message, MESSAGE_MAX_LENGTH)}`,
        );
  return error;
}

/** Rejects an overlong line before the parser splits it into values. */
async function* boundLines(file: string, texts: AsyncIterable<string>): AsyncGenerator<string> {
  let length = 0;
  for await (const text of texts) {
    const first = text.search(/[\r\n]/);
    const longest = length + (first === -1 ? text.length : first);
    const last = Math.max(text.lastIndexOf("\n"), text.lastIndexOf("\r"));
    length = last === -1 ? longest : text.length - last - 1;
    if (Math.max(longest, length) > ROW_MAX_CHARACTERS)
      throw new SourceError(
        "malformed_csv",
        `${file} has a line of over ${ROW_MAX_CHARACTERS} characters; check that it is the right file`,
      );
    yield text;
  }
}

/** Decodes a stream in non-empty pieces. */
async function* decodeUtf8(
  file: string,
  bytes: ReadableStream<Uint8Array>,
): AsyncGenerator<string> {
  const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: false });
  const decode = (chunk: Uint8Array = new Uint8Array(), stream = false) => {
    try {
      return decoder.decode(chunk, { stream });
    } catch {
      throw new SourceError("not_utf8", `${file} is not UTF-8; save it as UTF-8`);
    }
  };
  for await (const chunk of bytes) {
    for (let start = 0; start < chunk.length; start += PIECE_BYTES) {
      const text = decode(chunk.subarray(start, start + PIECE_BYTES), true);
      if (text !== "") yield text;
    }
  }
  const rest = decode();
  if (rest !== "") yield rest;
}
