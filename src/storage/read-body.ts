import { Buffer } from "node:buffer";
import { concatenate } from "../catalog/bytes.ts";
import type { Body } from "../catalog/manifest.ts";
import type { CatalogStore, Copy } from "./catalog-store.ts";

/** The bytes of a body, from R2, each blob hashed. Never throws. */
export async function tryReadBody(
  store: Pick<CatalogStore, "readBlob">,
  body: Body,
): Promise<Copy<Uint8Array<ArrayBuffer>>> {
  const copies = await Promise.all(
    body.segments.map(async (segment): Promise<Copy<Uint8Array>> => {
      if ("blob" in segment) return store.readBlob("r2", segment.blob);
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

/** The same, for those who cannot go on without it: throws if a blob is missing or damaged. */
export async function readBody(
  store: Pick<CatalogStore, "readBlob">,
  body: Body,
): Promise<Uint8Array<ArrayBuffer>> {
  const copy = await tryReadBody(store, body);
  if (!copy.ok) throw new Error(`${copy.fault} ${copy.detail}`);
  return copy.value;
}
