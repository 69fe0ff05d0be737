import { fromBinary } from "@bufbuild/protobuf";
import {
  type LocationsResponse,
  LocationsResponseSchema,
} from "../../gen/locations/v1/locations_pb.ts";
import { concatenate } from "../../src/catalog/bytes.ts";
import { commonPieces, encodeLocal } from "../../src/catalog/encode.ts";
import type { Catalog, RegionNames } from "../../src/catalog/model.ts";
import { aCatalog } from "./catalog.ts";

/** A catalog as a client gets it. */
export function aLocationsResponse(
  catalog: Catalog = aCatalog(),
  names: RegionNames = new Map(),
): LocationsResponse {
  const { proto } = encodeLocal(catalog.regions, names);
  return fromBinary(
    LocationsResponseSchema,
    concatenate([...commonPieces(catalog, "proto"), proto]),
  );
}
