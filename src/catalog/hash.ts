import { createHash } from "node:crypto";

/** SHA-256 (hex) of the concatenation of `parts`. */
export function sha256Hex(...parts: readonly (Uint8Array | string)[]): string {
  const hash = createHash("sha256");
  for (const part of parts) hash.update(part);
  return hash.digest("hex");
}

/** A run of bytes that others begin with, hashed once. */
export interface HashedPrefix {
  readonly bytes: number;
  /** SHA-256 (hex) of the run followed by `rest`. */
  sha256With(rest: Uint8Array): string;
}

/** Hashes pieces as they come; none of them is kept. */
export function hashPrefix(pieces: Iterable<Uint8Array>): HashedPrefix {
  const hash = createHash("sha256");
  let bytes = 0;
  for (const piece of pieces) {
    hash.update(piece);
    bytes += piece.length;
  }
  return { bytes, sha256With: (rest) => hash.copy().update(rest).digest("hex") };
}
