/** The worker of `openCatalog`, which has `openSearch`, too. */
import { openFull } from "./full-catalog.ts";
import { indexedDbMedium } from "./indexed-db-store.ts";
import { openPlaces } from "./picker.ts";
import { Store } from "./store.ts";
import { answerPage } from "./worker-side.ts";

const store = new Store(indexedDbMedium());

answerPage({
  open: (options) => openFull(options, store),
  openSearch: (options) => openPlaces(options, store),
});
