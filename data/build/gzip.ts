import { gzipSync } from "node:zlib";

/** Offset of the byte that names the operating system in a gzip header (RFC 1952, 2.3). */
const OS_OFFSET = 9;

/** "Unknown": the same on every machine. */
const OS_UNKNOWN = 255;

/** Gzip, level 9, with a header that says nothing about when and where it was made. */
export function gzip(text: string): Uint8Array {
  const bytes = gzipSync(text, { level: 9 });
  bytes.writeUInt32LE(0, 4);
  bytes[OS_OFFSET] = OS_UNKNOWN;
  return bytes;
}
