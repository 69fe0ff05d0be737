/** The worker of `browser.ts`, and of the explorer. */
import { indexedDbStore } from "./indexed-db-store.ts";
import {
  openSearchable,
  openServed,
  prepareToShow,
  type Searchable,
  type SearchableCatalog,
  showAnswer,
} from "./searchable-catalog.ts";
import { toCatalogError } from "./to-catalog-error.ts";
import type { Answer, Argument, FromWorker, ToWorker } from "./worker-messages.ts";

const store = indexedDbStore();

/** By their numbers. That of an answer comes later than the answer. */
const catalogs = new Map<number, Promise<Searchable | SearchableCatalog>>();

/** What makes the answers searchable that have been shown, for the first search. */
const shown = new Map<number, () => Promise<SearchableCatalog>>();

addEventListener("message", ({ data }: MessageEvent<ToWorker>) => void reply(data));

async function reply(message: ToWorker): Promise<void> {
  const { id } = message;
  try {
    tell({ kind: "answer", id, value: await answer(message) });
  } catch (cause) {
    const { code, message: text, retryAfterSeconds } = toCatalogError(cause);
    tell({ kind: "failure", id, failure: { code, message: text, retryAfterSeconds } });
  }
}

async function answer(message: ToWorker): Promise<Answer<ToWorker["call"]>> {
  const { catalog: number, call, argument } = message;
  switch (call) {
    case "open":
      return use(number, openSearchable(argument, store));
    case "openSearch":
      return use(number, openServed(argument, store));
    case "prepare":
      return prepareToShow(argument);
    case "show":
      return show(number, argument);
    case "search":
      return (await opened(number)).search(argument.typed, argument.limit);
    case "nearest":
      return (await opened(number)).nearest(argument.position, argument.options);
    case "pack":
      return pack(await opened(number));
    case "setLocale":
      return (await opened(number)).setLocale(argument);
    case "refresh":
      return (await opened(number)).refresh();
    case "close":
      (await opened(number)).close();
      return void catalogs.delete(number);
    default:
      return message satisfies never;
  }
}

async function show(number: number, { options, copy, isWhole }: Argument<"show">): Promise<string> {
  const { packed, open } = await showAnswer(options, copy);
  if (isWhole) shown.set(number, open);
  return packed;
}

/** Makes a catalog that of a number. */
async function use(number: number, opening: Promise<Searchable>): Promise<void> {
  const before = catalogs.get(number);
  catalogs.set(number, opening);
  const catalog = await opening;
  before?.then((earlier) => earlier.close()).catch(() => undefined);
  const tellState = () => {
    const { version, language } = catalog;
    tell({ kind: "change", catalog: number, state: { version, language } });
  };
  catalog.onChange(tellState);
  tellState();
  setTimeout(catalog.warmUp, 0); // after the messages that wait
}

function pack(catalog: Searchable | SearchableCatalog): string {
  if ("pack" in catalog) return catalog.pack();
  throw new Error("no catalog is open");
}

function opened(number: number): Promise<Searchable | SearchableCatalog> {
  const open = shown.get(number);
  shown.delete(number);
  // The search that waits for it says why there is none.
  if (open !== undefined) use(number, open()).catch(() => undefined);
  const catalog = catalogs.get(number);
  if (catalog === undefined) throw new Error("no catalog is open");
  return catalog;
}

function tell(message: FromWorker): void {
  postMessage(message);
}
