/** The catalog of the contract. */
import { fromBinary } from "@bufbuild/protobuf";
import { LocationsResponseSchema } from "../../gen/locations/v1/locations_pb.ts";
import type { LocationsCatalog, OpenOptions } from "./api.ts";
import { type Catalog, packCatalog, unpackCatalog } from "./catalog.ts";
import { openCore, type ThreadCore } from "./core.ts";
import { catalogOf } from "./handle.ts";
import type { Kind } from "./library.ts";
import { needCrypto, readCaller } from "./options.ts";
import { refresh } from "./refresh.ts";
import { fetchFile } from "./search-files.ts";
import { readCityNames } from "./search/city-names.ts";
import { readRanks } from "./search/ranks.ts";
import type { Copy, Store } from "./store.ts";

/** Those of `openCatalog`. */
export const CATALOG = {
  name: "catalog",
  areNamesAlwaysWanted: true,
  files: ["ranks", "cities"],
  fetchFile,
  async fetchMain(source, before) {
    return { catalog: await refresh(source, before?.catalog) };
  },
  join: async (copy) => frozen(await unpackCatalog(pack(copy))),
  languageOf: ({ catalog }) => catalog?.language ?? "",
  pack,
} as const satisfies Kind;

/** Packs a catalog for another thread, which calls `unpackCatalog`. */
function pack({ catalog, files }: Copy): string {
  const answer = fromBinary(LocationsResponseSchema, catalog?.bytes ?? new Uint8Array());
  return packCatalog(answer, readRanks(files.ranks?.content), readCityNames(files.cities?.content));
}

/** All that have opened it share its places, and the search is made of them. */
function frozen(catalog: Catalog): Catalog {
  for (const places of Object.values<readonly object[]>({ ...catalog })) {
    for (const place of places) {
      for (const value of Object.values(place)) if (Array.isArray(value)) Object.freeze(value);
      Object.freeze(place);
    }
    Object.freeze(places);
  }
  return Object.freeze(catalog);
}

/** Opens it in this thread: the stored one, which it refreshes in the background, or else it is fetched. */
export async function openFull(options: OpenOptions, store: Store): Promise<ThreadCore> {
  const caller = readCaller(options);
  needCrypto();
  return openCore(CATALOG, caller, store);
}

/** The same, as a caller gets it. */
export async function openCatalogIn(options: OpenOptions, store: Store): Promise<LocationsCatalog> {
  const core = await openFull(options, store);
  return catalogOf(core, async () => core.shown().places);
}
