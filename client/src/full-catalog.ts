/** The catalog of the contract. */
import { fromBinary } from "@bufbuild/protobuf";
import { LocationsResponseSchema } from "../../gen/locations/v1/locations_pb.ts";
import type { LocationsCatalog, OpenOptions } from "./api.ts";
import { frozen, packCatalog, unpackCatalog } from "./catalog.ts";
import { openCore, type ThreadCore } from "./core.ts";
import { catalogOf } from "./handle.ts";
import type { Kind } from "./library.ts";
import { type Defaults, needCrypto, readCaller } from "./options.ts";
import { refresh } from "./refresh.ts";
import { fetchFile } from "./search-files.ts";
import { readCityNames } from "./search/city-names.ts";
import { readRanks } from "./search/ranks.ts";
import type { Copy, Store } from "./store.ts";

/** The copies of `openCatalog`. */
export const CATALOG = {
  name: "catalog",
  isMainShared: false,
  areNamesAlwaysWanted: true,
  fetchFile,
  async fetchMain(source, before): Promise<Partial<Copy>> {
    const [catalog, ranks] = await Promise.all([
      refresh(source, before?.catalog),
      // Without them, Paris in Texas comes before that in France.
      fetchFile(source, "ranks", before?.files.ranks),
    ]);
    return { catalog, files: { ranks } };
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

/** Opens it in this thread: the stored one, which it refreshes in the background, or else it is fetched. */
export async function openFull(
  options: OpenOptions,
  store: Store,
  defaults?: Defaults,
): Promise<ThreadCore> {
  const caller = readCaller(options, defaults);
  needCrypto();
  return openCore(CATALOG, caller, store);
}

/** The same, as a caller gets it. */
export async function openCatalogIn(
  ...given: Parameters<typeof openFull>
): Promise<LocationsCatalog> {
  const core = await openFull(...given);
  return catalogOf(core, core.places);
}
