import { fromBinary } from "@bufbuild/protobuf";
import {
  type LocationsResponse,
  LocationsResponseSchema,
} from "../../gen/locations/v1/locations_pb.ts";
import { concatenate } from "../../src/catalog/bytes.ts";
import { encodeLocal } from "../../src/catalog/encode.ts";
import type { Catalog, RegionNames } from "../../src/catalog/model.ts";
import { aCatalog } from "./catalog.ts";
import { encodeCommon } from "./encode-common.ts";

/** A catalog as a client gets it. */
export function aLocationsResponse(
  catalog: Catalog = aCatalog(),
  names: RegionNames = new Map(),
): LocationsResponse {
  const { proto } = encodeCommon(catalog);
  return fromBinary(
    LocationsResponseSchema,
    concatenate([proto, encodeLocal(catalog.regions, names).proto]),
  );
}
