import { fromBinary } from "@bufbuild/protobuf";
import {
  type LocationsResponse,
  LocationsResponseSchema,
} from "../../gen/locations/v1/locations_pb.ts";
import { concatenate } from "../../src/catalog/bytes.ts";
import { sharedPieces, encodeLocalePart } from "../../src/catalog/encode.ts";
import type { Catalog, RegionNames } from "../../src/catalog/model.ts";
import { aCatalog } from "./catalog.ts";

/** A catalog as a client gets it. */
export function aLocationsResponse(
  catalog: Catalog = aCatalog(),
  names: RegionNames = new Map(),
): LocationsResponse {
  const { proto } = encodeLocalePart(catalog.regions, names);
  return fromBinary(
    LocationsResponseSchema,
    concatenate([...sharedPieces(catalog, "proto"), proto]),
  );
}
