/** The worker of `openSearch`: without protobuf, and what only a catalog needs. */
import { indexedDbMedium } from "./indexed-db-store.ts";
import { openPlaces } from "./picker.ts";
import { Store } from "./store.ts";
import { answerPage } from "./worker-side.ts";

const store = new Store(indexedDbMedium());

answerPage({ openSearch: (options) => openPlaces(options, store) });
