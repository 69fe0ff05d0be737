import { createHash, type Hash } from "node:crypto";

/** SHA-256 (hex) of the concatenation of `parts`. */
export function sha256Hex(...parts: readonly (Uint8Array | string)[]): string {
  const hash = createHash("sha256");
  for (const part of parts) hash.update(part);
  return hash.digest("hex");
}

/** SHA-256 (hex) and length of a run of bytes. */
export interface HashedBytes {
  readonly sha256: string;
  readonly bytes: number;
}

/** A run of bytes that others begin with, hashed once. */
export interface HashedPrefix {
  readonly bytes: number;
  /** Hashes the run followed by `rest`. */
  hashWith(rest: Iterable<Uint8Array>): HashedBytes;
}

/** Hashes pieces as they come; none of them is kept. */
export function hashPrefix(pieces: Iterable<Uint8Array>): HashedPrefix {
  const hash = createHash("sha256");
  const bytes = updateAll(hash, pieces);
  return {
    bytes,
    hashWith(rest) {
      const whole = hash.copy();
      const restBytes = updateAll(whole, rest);
      return { sha256: whole.digest("hex"), bytes: bytes + restBytes };
    },
  };
}

/** Gives the length of the pieces. */
function updateAll(hash: Hash, pieces: Iterable<Uint8Array>): number {
  let bytes = 0;
  for (const piece of pieces) {
    hash.update(piece);
    bytes += piece.length;
  }
  return bytes;
}
