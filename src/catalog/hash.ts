import { createHash } from "node:crypto";

/** Returns the SHA-256 (hex) of the joined parts. */
export function sha256Hex(...parts: readonly (Uint8Array | string)[]): string {
  const hash = createHash("sha256");
  for (const part of parts) hash.update(part);
  return hash.digest("hex");
}
