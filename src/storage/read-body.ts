import { Buffer } from "node:buffer";
import { concatenate } from "../catalog/bytes.ts";
import type { Body } from "../catalog/manifest.ts";
import type { CatalogStore } from "./catalog-store.ts";

/** The bytes of a body, from R2, each blob hashed. Throws if one is missing or damaged. */
export async function readBody(
  store: Pick<CatalogStore, "readBlob">,
  body: Body,
): Promise<Uint8Array<ArrayBuffer>> {
  const parts = await Promise.all(
    body.segments.map(async (segment) => {
      if ("inline" in segment) return Buffer.from(segment.inline, "base64");
      const copy = await store.readBlob("r2", segment.blob);
      if (!copy.ok) throw new Error(`${copy.fault} ${copy.detail}`);
      return copy.value;
    }),
  );
  return concatenate(parts);
}
