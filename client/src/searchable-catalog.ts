import { fromBinary } from "@bufbuild/protobuf";
import { LocationsResponseSchema } from "../../gen/locations/v1/locations_pb.ts";
import type { LocationsCatalog } from "./api.ts";
import { readBaseUrl } from "./base-url.ts";
import { type Catalog, joinCatalog, packCatalog } from "./catalog.ts";
import { type CatalogCopy, refresh, sha256Of, type Source } from "./refresh.ts";
import { SearchFiles } from "./search-files.ts";
import { countryNames } from "./search/country-names.ts";
import { readRanks } from "./search/ranks.ts";
import { addOtherNames, createSearchIndex, type SearchIndex } from "./search/search-index.ts";
import { search } from "./search/search.ts";
import type { Store } from "./store.ts";
import { type Suggestion, suggestionOf } from "./suggestion.ts";
import { toCatalogError } from "./to-catalog-error.ts";

const DEFAULT_LIMIT = 10;

/** One version in one locale, ready to be searched. */
interface Shown {
  readonly locale: string;
  readonly copy: CatalogCopy;
  readonly places: Catalog;
  readonly index: SearchIndex;
}

/** Fetches, stores, joins and searches the catalog in the thread that calls it. */
export class SearchableCatalog implements LocationsCatalog {
  readonly #library: Library;
  readonly #listeners = new Set<() => void>();
  #shown: Shown;
  /** That which was asked for last. */
  #wanted: string;
  #refreshing: Promise<void> | undefined;

  private constructor(library: Library, shown: Shown) {
    this.#library = library;
    this.#shown = shown;
    this.#wanted = shown.locale;
  }

  /** Opens the stored catalog and refreshes it in the background, or else fetches it. */
  static async open(source: Source, store: Store): Promise<SearchableCatalog> {
    const baseUrl = readBaseUrl(source.baseUrl);
    const library = new Library({ ...source, baseUrl }, store);
    const { shown, isStored } = await library.open(source.locale ?? "");
    const catalog = new SearchableCatalog(library, shown);
    if (isStored) catalog.#refreshInBackground();
    return catalog;
  }

  get version(): number {
    return this.#shown.copy.version;
  }

  get language(): string {
    return this.#shown.copy.language;
  }

  async search(typed: string, limit = DEFAULT_LIMIT): Promise<readonly Suggestion[]> {
    const { index } = this.#shown;
    return search(index, typed)
      .slice(0, limit)
      .flatMap(({ position, isUnderCity }) => {
        const place = index.places[position];
        return place ? [suggestionOf(place, isUnderCity)] : [];
      });
  }

  async places(): Promise<Catalog> {
    return this.#shown.places;
  }

  /** The joined catalog for another thread, which calls `unpackCatalog`. */
  async pack(): Promise<string> {
    return this.#library.pack(this.#shown.copy);
  }

  async setLocale(locale: string): Promise<void> {
    this.#wanted = locale;
    const { shown, isStored } = await this.#library.open(locale);
    // Another one was asked for meanwhile.
    if (this.#wanted !== locale) return;
    this.#show(shown);
    if (isStored) this.#refreshInBackground();
  }

  async refresh(): Promise<void> {
    this.#refreshing ??= this.#refresh().finally(() => (this.#refreshing = undefined));
    return this.#refreshing;
  }

  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  close(): void {
    this.#listeners.clear();
  }

  async #refresh(): Promise<void> {
    const before = this.#shown;
    const shown = await this.#library.refresh(before);
    if (shown !== before && this.#shown === before) this.#show(shown);
  }

  /** Whoever wants to know how it ends calls `refresh`. */
  #refreshInBackground(): void {
    this.refresh().catch(() => undefined);
  }

  #show(shown: Shown): void {
    this.#shown = shown;
    for (const listener of this.#listeners) listener();
  }
}

/** The stored catalogs of a service, with what the search needs besides. */
class Library {
  readonly #source: Source;
  readonly #store: Store;
  readonly #files: SearchFiles;

  constructor(source: Source, store: Store) {
    this.#source = source;
    this.#store = store;
    this.#files = new SearchFiles(source, store);
  }

  /** Opens the catalog of a locale: the stored one at once, if there is one. */
  async open(locale: string): Promise<{ readonly shown: Shown; readonly isStored: boolean }> {
    const files = this.#files.read();
    const stored = await this.#stored(locale);
    const copy = stored ?? (await this.#fetch(locale));
    await files;
    return { shown: await this.#prepare(locale, copy), isStored: stored !== undefined };
  }

  /** Returns what is current: the same if it is. */
  async refresh(shown: Shown): Promise<Shown> {
    const [copy] = await Promise.all([
      this.#fetch(shown.locale, shown.copy),
      this.#files.refresh(),
    ]);
    return copy === shown.copy ? shown : this.#prepare(shown.locale, copy);
  }

  async pack({ bytes }: CatalogCopy): Promise<string> {
    const { ranks } = await this.#files.read();
    return packCatalog(fromBinary(LocationsResponseSchema, bytes), readRanks(ranks));
  }

  async #prepare(locale: string, copy: CatalogCopy): Promise<Shown> {
    const files = await this.#files.read();
    const ranks = readRanks(files.ranks);
    const places = await joinCatalog(fromBinary(LocationsResponseSchema, copy.bytes), ranks);
    const inLanguage = new Intl.DisplayNames([copy.language], { type: "region" });
    const countryName = (code: string) => inLanguage.of(code) ?? code;
    const index = createSearchIndex(places, { ranks, countryName });
    if (files.names !== undefined) addOtherNames(index, { names: files.names, countryNames });
    return { locale, copy, places, index };
  }

  async #fetch(locale: string, copy?: CatalogCopy): Promise<CatalogCopy> {
    try {
      const current = await refresh({ ...this.#source, locale }, copy);
      if (current !== copy)
        await this.#store.set(this.#keyOf(locale), current).catch(() => undefined);
      return current;
    } catch (cause) {
      throw toCatalogError(cause);
    }
  }

  /** Reads the stored catalog; undefined if there is none, or if it is damaged. */
  async #stored(locale: string): Promise<CatalogCopy | undefined> {
    try {
      const copy = (await this.#store.get(this.#keyOf(locale))) as CatalogCopy; // its hash proves it
      return (await sha256Of(copy.bytes)) === copy.sha256 ? copy : undefined;
    } catch {
      return undefined;
    }
  }

  #keyOf(locale: string): string {
    return `${this.#source.baseUrl} ${locale}`;
  }
}
