import { Buffer } from "node:buffer";
import type { Body, Segment } from "../catalog/manifest.ts";
import type { CatalogStore, Copy } from "./catalog-store.ts";

type BlobReader = Pick<CatalogStore, "readBlob">;

/**
 * Reads a body from R2, or from KV if R2 fails, and verifies each blob. Reads one blob at a time, so
 * that a large body is never in memory twice. Never throws. The fault is `unreadable` if a store
 * did not answer, because it may still have the blob.
 */
export async function tryReadBody(
  store: BlobReader,
  body: Body,
): Promise<Copy<Uint8Array<ArrayBuffer>>> {
  const whole = new Uint8Array(body.bytes);
  let offset = 0;
  for (const segment of body.segments) {
    const copy = await readSegment(store, segment);
    if (!copy.ok) return copy;
    whole.set(copy.value, offset);
    offset += copy.value.length;
  }
  return { ok: true, value: whole };
}

async function readSegment(store: BlobReader, segment: Segment): Promise<Copy<Uint8Array>> {
  if (!("blob" in segment)) return { ok: true, value: Buffer.from(segment.inline, "base64") };
  const copy = await readBlob(store, segment.blob);
  if (!copy.ok || copy.value.length === segment.bytes) return copy;
  return {
    ok: false,
    fault: "corrupt",
    detail: `${segment.blob} is not ${segment.bytes} bytes long`,
  };
}

async function readBlob(store: BlobReader, sha256: string): Promise<Copy<Uint8Array>> {
  const copy = await store.readBlob("r2", sha256);
  if (copy.ok) return copy;
  const other = await store.readBlob("kv", sha256);
  return other.ok || other.fault === "unreadable" ? other : copy;
}
