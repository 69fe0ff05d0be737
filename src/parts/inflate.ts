import type { Buffer } from "node:buffer";
import { node } from "../platform/node.ts";

/**
 * Inflates a part in gzip (`codings.ts`), which has no end of its own.
 *
 * @returns undefined if that does not give so many bytes.
 */
export function inflatePart(part: Uint8Array, bytes: number): Buffer<ArrayBuffer> | undefined {
  const { constants, inflateRawSync } = node.zlib;
  try {
    // workerd refuses as many as the limit.
    const maxOutputLength = bytes + 1;
    const inflated = inflateRawSync(part, { finishFlush: constants.Z_SYNC_FLUSH, maxOutputLength });
    return inflated.length === bytes ? inflated : undefined;
  } catch {
    return undefined;
  }
}
