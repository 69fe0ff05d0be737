import { concatenate } from "../../src/catalog/bytes.ts";
import { commonPieces, type EncodedPart } from "../../src/catalog/encode.ts";
import type { Catalog } from "../../src/catalog/model.ts";

/** Joins the pieces of the common part in both encodings. */
export function encodeCommon(catalog: Catalog): EncodedPart {
  return {
    proto: concatenate([...commonPieces(catalog, "proto")]),
    json: concatenate([...commonPieces(catalog, "json")]),
  };
}
