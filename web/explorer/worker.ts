/** The explorer's worker: searches answers that the page has fetched. */
import type { Argument } from "../../client/src/calls.ts";
import { unpackCatalog } from "../../client/src/catalog.ts";
import { coreOf } from "../../client/src/core.ts";
import { CATALOG } from "../../client/src/full-catalog.ts";
import { libraryOf } from "../../client/src/library.ts";
import { type Caller, readCaller } from "../../client/src/options.ts";
import { type Copy, NO_STORE } from "../../client/src/store.ts";
import { answerPage, type ShownAnswer } from "../../client/src/worker-side.ts";

answerPage({
  async prepare(options) {
    const caller = readCaller(options);
    // A search says what it misses.
    await Promise.allSettled([
      libraryFor(caller).file("ranks", caller),
      libraryFor(caller).file("cities", caller),
      caller.lazyNames || libraryFor(caller).file("names", caller),
    ]);
  },
  show,
});

async function show({ options, copy: catalog }: Argument<"show">): Promise<ShownAnswer> {
  const caller = readCaller(options);
  const library = libraryFor(caller);
  const { version } = catalog;
  const [ranks, cities] = await Promise.all([
    library.file("ranks", caller).catch(() => undefined),
    library.file("cities", { ...caller, locale: catalog.language }).catch(() => undefined),
  ]);
  const files = { ...(ranks && { ranks }), ...(cities && { cities }) };
  const copy: Copy = { version, lookedAt: Date.now(), catalog, files };
  const packed = CATALOG.pack(copy);
  const open = async () => {
    const edition = library.adopt(copy, "", await unpackCatalog(packed));
    return coreOf(edition, { library, caller });
  };
  return { packed, open };
}

function libraryFor(caller: Caller) {
  return libraryOf(caller.baseUrl, NO_STORE, CATALOG);
}
