import { expect, it } from "vitest";
import { type Kind, Library } from "../src/library.ts";
import { readCaller } from "../src/options.ts";
import { joinServed } from "../src/search/served.ts";
import { NO_STORE } from "../src/store.ts";
import { otherNames, servedPlaces } from "../../web/build/search-files.ts";

it("shows both what a refresh has fetched and names that came while it was joined", async () => {
  const served = servedPlaces();
  const places = await joinServed(served);
  const names = { etag: "", content: otherNames() };
  let version = 1;
  let joining = Promise.withResolvers<void>();
  let joined = Promise.withResolvers<void>();
  joined.resolve();
  const kind: Kind = {
    name: "places",
    isMainShared: true,
    areNamesAlwaysWanted: false,
    fetchMain: async () => ({ version, files: { served: { etag: "", content: served } } }),
    fetchFile: async () => names as never,
    async join() {
      joining.resolve();
      await joined.promise;
      return places;
    },
    languageOf: () => "en",
  };
  const library = new Library("", NO_STORE, kind);
  const caller = readCaller({ baseUrl: "https://locations.example.com", lazyNames: true });
  const edition = await library.open("en", caller);
  version = 2;
  joining = Promise.withResolvers();
  joined = Promise.withResolvers();
  const refreshed = library.refresh(edition, caller);
  await joining.promise;
  await library.prepareSearch(edition, "東京", caller);
  joined.resolve();
  await refreshed;
  expect(edition.shown.copy).toMatchObject({ version: 2, files: { names } });
});
