import workerUrl from "generated:catalog-worker.js";
import type { CatalogCopy, LocationsCatalog } from "../../../client/src/api.ts";
import { openCatalog } from "../../../client/src/browser.ts";
import type { Place } from "../../../client/src/catalog.ts";
import { SEARCH_LIMIT } from "../../../client/src/search/search.ts";
import { trustedUrl } from "../shared/trusted-url.ts";
import type { LoadedCatalog } from "./use-catalog.ts";

/** A place that a search has found. */
export interface Result {
  readonly place: Place;
  /** Whether it is an airport that is listed under its city. */
  readonly isUnderCity: boolean;
}

/** Searched before anybody types, because the first search takes several times as long. */
const WARM_UP = "london";

/** The catalog that the client package has open, and its places on the page. */
export class ShownCatalog {
  #opening: Promise<LocationsCatalog> | undefined;
  /** Started before there is anything to open. */
  #worker: Worker | undefined = startWorker();
  #places: ReadonlyMap<string, Place> | undefined;
  /** The places come before the search. */
  #isShowing = false;
  #tell: () => unknown = () => undefined;

  constructor() {
    // The worker then has it from the browser's cache as soon as an answer is there.
    fetch("/search/v1/ranks.json").then(
      (answer) => answer.text(),
      () => undefined,
    );
  }

  /** Calls the listener when a search may find something else. */
  onChange(listener: () => unknown): void {
    this.#tell = listener;
  }

  /**
   * Shows an answer; without one, what the package has stored or fetches.
   *
   * @param isServed whether what is stored must be current.
   * @throws CatalogError if the service cannot be reached, or refuses.
   */
  async show(
    locale: string,
    copy: CatalogCopy | undefined,
    isServed = false,
  ): Promise<LoadedCatalog> {
    this.#isShowing = true;
    const catalog = await this.#open(locale, copy);
    if (copy === undefined && isServed) await catalog.refresh();
    const places = await catalog.places();
    const { airports, cities, countries, regions } = places;
    const all: readonly Place[] = [...airports, ...cities, ...countries, ...regions];
    this.#places = new Map(all.map((place) => [place.id, place]));
    this.#isShowing = false;
    this.#prepareSearch(catalog);
    return {
      ...places,
      locale: catalog.language,
      version: catalog.version,
      isWhole: copy?.sha256 !== "",
    };
  }

  /** Null while there is nothing to search. */
  async search(typed: string): Promise<readonly Result[] | null> {
    const catalog = await this.#opening?.catch(() => undefined);
    const places = this.#places;
    if (catalog === undefined || places === undefined) return null;
    const found = await catalog.search(typed, SEARCH_LIMIT);
    return found.flatMap(({ id, isUnderCity }) => {
      const place = places.get(id);
      return place ? [{ place, isUnderCity }] : [];
    });
  }

  /** The answer that is shown, in Protobuf. */
  async bytes(): Promise<Uint8Array<ArrayBuffer>> {
    const catalog = await this.#opening;
    return (await catalog?.bytes()) ?? new Uint8Array();
  }

  async #open(locale: string, copy: CatalogCopy | undefined): Promise<LocationsCatalog> {
    const before = await this.#opening?.catch(() => undefined);
    if (before !== undefined) {
      await before.setLocale(locale, copy);
      return before;
    }
    this.#opening = openCatalog({
      baseUrl: "/",
      locale,
      ...(copy && { copy }),
      startWorker: () => this.#takeWorker(),
    });
    const catalog = await this.#opening;
    catalog.onChange(() => this.#isShowing || this.#prepareSearch(catalog));
    return catalog;
  }

  #prepareSearch(catalog: LocationsCatalog): void {
    this.#tell();
    catalog.search(WARM_UP).catch(() => undefined);
  }

  #takeWorker(): Worker {
    const worker = this.#worker ?? startWorker();
    this.#worker = undefined;
    return worker;
  }
}

function startWorker(): Worker {
  return new Worker(trustedUrl(workerUrl), { type: "module" });
}
