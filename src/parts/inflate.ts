import type { Buffer } from "node:buffer";
import { node } from "../platform/node.ts";

/** workerd throws if the next step of its buffer, 40 KiB, would exceed the limit. */
const BUFFER_STEP_BYTES = 64 * 1024;

/** Inflates a part in gzip (`codings.ts`), which has no end marker. Undefined if the length differs. */
export function inflatePart(part: Uint8Array, bytes: number): Buffer<ArrayBuffer> | undefined {
  const { constants, inflateRawSync } = node.zlib;
  try {
    const maxOutputLength = bytes + BUFFER_STEP_BYTES;
    const options = { finishFlush: constants.Z_SYNC_FLUSH, maxOutputLength };
    const inflated = inflateRawSync(part, options);
    return inflated.length === bytes ? inflated : undefined;
  } catch {
    return undefined;
  }
}
