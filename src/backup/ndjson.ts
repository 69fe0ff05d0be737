/** Stored rows: one JSON value per line, UTF-8, gzip. Pure: no clock, no I/O. */
import { gunzipSync, gzipSync } from "node:zlib";
import { sha256Hex } from "../catalog/hash.ts";
import { type Fault, fault } from "./fault.ts";
import { type Part, PART_CONTENT_MAX_BYTES, partName } from "./format.ts";

/** A part with its bytes. */
interface PackedPart {
  readonly part: Part;
  readonly bytes: Uint8Array;
}

/** Packs lines as a part of a table, or of the state for null. Numbers start at 1. */
export function packPart(
  table: string | null,
  number: number,
  lines: readonly string[],
): PackedPart {
  const content = lines.map((line) => `${line}\n`).join("");
  const bytes = gzipSync(content);
  const part: Part = {
    name: partName(table, number),
    table,
    rows: lines.length,
    bytes: bytes.length,
    sha256: sha256Hex(bytes),
    content_sha256: sha256Hex(content),
  };
  return { part, bytes };
}

type UnpackedPart =
  | { readonly ok: true; readonly lines: readonly string[] }
  | { readonly ok: false; readonly fault: Fault };

/**
 * Decodes and verifies a stored part. Bytes that do not decode, or decode to more than a part may
 * contain, are damaged. Bytes that decode to other rows have been altered.
 */
export function unpackPart(part: Part, bytes: Uint8Array | null): UnpackedPart {
  const refuse = (code: Fault["code"], message: string): UnpackedPart => ({
    ok: false,
    fault: fault(code, `${part.name} ${message}`),
  });
  if (bytes === null) return refuse("part_missing", "is missing");
  const content = decode(bytes);
  if (content === undefined)
    return refuse(
      "part_damaged",
      `is damaged: its ${bytes.length} bytes are not gzip of at most ${PART_CONTENT_MAX_BYTES} bytes of UTF-8`,
    );
  const lines = content.split("\n").slice(0, -1);
  if (sha256Hex(content) !== part.content_sha256 || lines.length !== part.rows)
    return refuse("rows_altered", "contains other rows than the backup wrote");
  if (bytes.length !== part.bytes || sha256Hex(bytes) !== part.sha256)
    return refuse("part_damaged", "is damaged: its bytes have another hash");
  return { ok: true, lines };
}

const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

function decode(bytes: Uint8Array): string | undefined {
  try {
    return decoder.decode(gunzipSync(bytes, { maxOutputLength: PART_CONTENT_MAX_BYTES }));
  } catch {
    return undefined;
  }
}
