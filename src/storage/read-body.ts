import { Buffer } from "node:buffer";
import { concatenate } from "../catalog/bytes.ts";
import type { Body } from "../catalog/manifest.ts";
import type { CatalogStore, Copy } from "./catalog-store.ts";

/**
 * The bytes of a body, each blob hashed, from R2 or else from KV. Never throws. Where neither has a
 * blob the fault is `unreadable` if one of them did not answer, since it may yet have it.
 */
export async function tryReadBody(
  store: Pick<CatalogStore, "readBlob">,
  body: Body,
): Promise<Copy<Uint8Array<ArrayBuffer>>> {
  const copies = await Promise.all(
    body.segments.map(async (segment): Promise<Copy<Uint8Array>> => {
      if ("blob" in segment) return readBlob(store, segment.blob);
      return { ok: true, value: Buffer.from(segment.inline, "base64") };
    }),
  );
  const parts: Uint8Array[] = [];
  for (const copy of copies) {
    if (!copy.ok) return copy;
    parts.push(copy.value);
  }
  return { ok: true, value: concatenate(parts) };
}

async function readBlob(
  store: Pick<CatalogStore, "readBlob">,
  sha256: string,
): Promise<Copy<Uint8Array>> {
  const copy = await store.readBlob("r2", sha256);
  if (copy.ok) return copy;
  const other = await store.readBlob("kv", sha256);
  return other.ok || other.fault === "unreadable" ? other : copy;
}
