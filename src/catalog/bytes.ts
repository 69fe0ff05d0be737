import { Buffer } from "node:buffer";
import { node } from "../platform/node.ts";
import type { Sha256Hex } from "../platform/units.ts";

export function sha256Hex(...parts: readonly (Uint8Array | string)[]): Sha256Hex {
  const hash = node.crypto.createHash("sha256");
  for (const part of parts) hash.update(part);
  return hash.digest("hex");
}

/** Avoids `createHash`, which would load the code of streams: 3 ms of an isolate's first request. */
export async function digestHex(bytes: Uint8Array<ArrayBuffer>): Promise<Sha256Hex> {
  return Buffer.from(await crypto.subtle.digest("SHA-256", bytes)).toString("hex");
}

export function shortHash(sha256: Sha256Hex): string {
  return `${sha256.slice(0, 12)}…`;
}

export function lengthOf(parts: readonly Uint8Array[]): number {
  return parts.reduce((length, part) => length + part.length, 0);
}

export function concatenate(parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const whole = new Uint8Array(lengthOf(parts));
  let offset = 0;
  for (const part of parts) {
    whole.set(part, offset);
    offset += part.length;
  }
  return whole;
}

/**
 * Releases the memory of bytes that nobody reads again. V8 collects buffers only after 64 MB, which
 * is half of an isolate's memory. The bytes are empty afterwards, unless they are part of a larger
 * buffer.
 */
export function releaseBuffer({ buffer, length }: Uint8Array): void {
  if (buffer instanceof ArrayBuffer && length === buffer.byteLength) buffer.transfer(0);
}
