import { Buffer } from "node:buffer";
import type { Body, Segment } from "../catalog/manifest.ts";
import type { CatalogStore, Copy } from "./catalog-store.ts";

type BlobReader = Pick<CatalogStore, "readBlob">;

/**
 * The bytes of a body, from R2, each blob hashed. Holds them and one blob at a time: a large body is
 * not in memory twice. Never throws.
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
  const copy = await store.readBlob("r2", segment.blob);
  if (!copy.ok || copy.value.length === segment.bytes) return copy;
  return {
    ok: false,
    fault: "corrupt",
    detail: `${segment.blob} is not ${segment.bytes} bytes long`,
  };
}

/** The same, for those who cannot go on without it: throws if a blob is missing or damaged. */
export async function readBody(store: BlobReader, body: Body): Promise<Uint8Array<ArrayBuffer>> {
  const copy = await tryReadBody(store, body);
  if (!copy.ok) throw new Error(`${copy.fault} ${copy.detail}`);
  return copy.value;
}
