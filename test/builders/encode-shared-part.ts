import { concatenate } from "../../src/catalog/bytes.ts";
import { sharedPieces, type EncodedPart } from "../../src/catalog/encode.ts";
import type { Catalog } from "../../src/catalog/model.ts";

/** Joins the pieces of the shared part in both encodings. */
export function encodeSharedPart(catalog: Catalog): EncodedPart {
  return {
    proto: concatenate([...sharedPieces(catalog, "proto")]),
    json: concatenate([...sharedPieces(catalog, "json")]),
  };
}
