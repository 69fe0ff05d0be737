import { Buffer } from "node:buffer";

/** Returns the SHA-256 (hex) that R2 verified on upload; undefined if there is none. */
export function storedHash(head: R2Object | null): string | undefined {
  const sha256 = head?.checksums.sha256;
  return sha256 === undefined ? undefined : Buffer.from(sha256).toString("hex");
}
