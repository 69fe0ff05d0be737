/** Stored rows: one JSON value per line, UTF-8, gzip. Pure: no clock, no I/O. */
import { gunzipSync, gzipSync } from "node:zlib";
import { sha256Hex } from "../catalog/hash.ts";
import { type Fault, fault } from "./fault.ts";
import { type Part, PART_CONTENT_MAX_BYTES, partName } from "./format.ts";

/** Packs lines as a part of a table, or of the state for null. Numbers start at 1. */
export function packPart(
  table: string | null,
  number: number,
  lines: readonly string[],
): { readonly part: Part; readonly bytes: Uint8Array } {
  const bytes = gzipSync(lines.map((line) => `${line}\n`).join(""));
  const name = partName(table, number);
  return { part: { name, bytes: bytes.length, sha256: sha256Hex(bytes) }, bytes };
}

type UnpackedPart =
  | { readonly ok: true; readonly lines: readonly string[] }
  | { readonly ok: false; readonly fault: Fault };

/** Verifies and decodes a stored part. */
export function unpackPart({ name, sha256 }: Part, bytes: Uint8Array | null): UnpackedPart {
  const refuse = (problem: string): UnpackedPart => ({
    ok: false,
    fault: fault("part_damaged", `${name} ${problem}`),
  });
  if (bytes === null) return refuse("is missing");
  if (sha256Hex(bytes) !== sha256) return refuse("is damaged: its bytes have another hash");
  try {
    const content = decoder.decode(gunzipSync(bytes, { maxOutputLength: PART_CONTENT_MAX_BYTES }));
    return { ok: true, lines: content.split("\n").slice(0, -1) };
  } catch {
    return refuse(`is not gzip of at most ${PART_CONTENT_MAX_BYTES} bytes of UTF-8`);
  }
}

const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
