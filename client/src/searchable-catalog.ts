import { fromBinary } from "@bufbuild/protobuf";
import { LocationsResponseSchema } from "../../gen/locations/v1/locations_pb.ts";
import { CatalogError, type LocationsCatalog } from "./api.ts";
import { readBaseUrl } from "./base-url.ts";
import { type Catalog, joinCatalog, packCatalog } from "./catalog.ts";
import { type CatalogCopy, refresh, sha256Of, type Source } from "./refresh.ts";
import { SearchFiles } from "./search-files.ts";
import { countryNames } from "./search/country-names.ts";
import { readRanks } from "./search/ranks.ts";
import { addOtherNames, createSearchIndex, type SearchIndex } from "./search/search-index.ts";
import { search } from "./search/search.ts";
import { isTexts } from "./search/shape.ts";
import type { Store } from "./store.ts";
import { type Suggestion, suggestionOf } from "./suggestion.ts";
import { toCatalogError } from "./to-catalog-error.ts";

const DEFAULT_LIMIT = 10;

const DEFAULT_TIMEOUT_MS = 60_000;

/** So many locales stay stored, some 1.9 MB each. */
const STORED_LOCALES = 3;

/** A refresh that began longer ago is not joined: it may hang. */
export const JOIN_MS = 1000;

/** One version in one locale, ready to be searched. */
interface Shown {
  readonly locale: string;
  readonly copy: CatalogCopy;
  readonly places: Catalog;
  readonly index: SearchIndex;
}

/** A refresh under way. */
interface Refreshing {
  readonly shown: Shown;
  readonly startedAt: number;
  readonly ended: Promise<void>;
}

/** Fetches, stores, joins and searches the catalog in the thread that calls it. */
export class SearchableCatalog implements LocationsCatalog {
  readonly #library: Library;
  readonly #listeners = new Set<() => void>();
  #shown: Shown;
  /** That which was asked for last. */
  #wanted: string;
  #refreshing: Refreshing | undefined;

  private constructor(library: Library, shown: Shown) {
    this.#library = library;
    this.#shown = shown;
    this.#wanted = shown.locale;
  }

  /** Opens the stored catalog and refreshes it in the background, or else fetches it. */
  static async open(options: LibraryOptions, store: Store): Promise<SearchableCatalog> {
    const baseUrl = readBaseUrl(options.baseUrl);
    const library = new Library({ ...options, baseUrl }, store);
    const { shown, isStored } = await orCatalogError(library.open(options.locale ?? ""));
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
  pack(): string {
    return this.#library.pack(this.#shown.copy);
  }

  async setLocale(locale: string): Promise<void> {
    this.#wanted = locale;
    const { shown, isStored } = await orCatalogError(this.#library.open(locale));
    // Another one was asked for meanwhile.
    if (this.#wanted !== locale) return;
    this.#show(shown);
    if (isStored) this.#refreshInBackground();
  }

  async refresh(): Promise<void> {
    const shown = this.#shown;
    const startedAt = performance.now();
    const running = this.#refreshing;
    if (running?.shown === shown && startedAt - running.startedAt < JOIN_MS) return running.ended;
    const own = { shown, startedAt, ended: orCatalogError(this.#refresh(shown)) };
    this.#refreshing = own;
    return own.ended.finally(() => {
      if (this.#refreshing === own) this.#refreshing = undefined;
    });
  }

  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  close(): void {
    this.#listeners.clear();
  }

  async #refresh(before: Shown): Promise<void> {
    const files = this.#library.refreshFiles();
    const current = await this.#library.refresh(before);
    this.#replace(before, current);
    // The catalog does not wait for what only the search needs.
    if (await files) this.#replace(current, await this.#library.prepareAnew(current));
  }

  /** Shows what is newer, unless something else is shown meanwhile. */
  #replace(before: Shown, current: Shown): void {
    if (current !== before && this.#shown === before) this.#show(current);
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

async function orCatalogError<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (cause) {
    throw toCatalogError(cause);
  }
}

interface LibraryOptions extends Source {
  readonly timeoutMs?: number;
}

/** The stored catalogs of a service, with what the search needs besides. */
class Library {
  readonly #source: Source;
  readonly #timeoutMs: number;
  readonly #store: Store;
  readonly #files: SearchFiles;

  constructor({ timeoutMs = DEFAULT_TIMEOUT_MS, ...source }: LibraryOptions, store: Store) {
    this.#source = source;
    this.#timeoutMs = timeoutMs;
    this.#store = store;
    this.#files = new SearchFiles(source, store);
  }

  /** Opens the catalog of a locale: the stored one without any request, if there is one. */
  async open(locale: string): Promise<{ readonly shown: Shown; readonly isStored: boolean }> {
    const stored = await this.#stored(locale);
    const [copy] = await Promise.all([
      stored ?? this.#fetch(locale),
      stored ? this.#files.readStored() : this.#files.fetchMissing(),
    ]);
    const shown = await this.#prepare(locale, copy);
    await this.#keepLastUsed(locale).catch(() => undefined);
    return { shown, isStored: stored !== undefined };
  }

  /** Returns what is current: the same if it is. */
  async refresh(shown: Shown): Promise<Shown> {
    const copy = await this.#fetch(shown.locale, shown.copy);
    return copy === shown.copy ? shown : this.#prepare(shown.locale, copy);
  }

  /** Fetches what the search needs besides; returns whether it has changed. */
  refreshFiles(): Promise<boolean> {
    return this.#files.refresh();
  }

  /** Prepares what is shown with the files of the search as they are now. */
  prepareAnew({ locale, copy }: Shown): Promise<Shown> {
    return this.#prepare(locale, copy);
  }

  pack({ bytes }: CatalogCopy): string {
    const ranks = readRanks(this.#files.known.ranks);
    return packCatalog(fromBinary(LocationsResponseSchema, bytes), ranks);
  }

  async #prepare(locale: string, copy: CatalogCopy): Promise<Shown> {
    const { ranks: file, names } = this.#files.known;
    const ranks = readRanks(file);
    const places = await joinCatalog(fromBinary(LocationsResponseSchema, copy.bytes), ranks);
    const inLanguage = new Intl.DisplayNames([copy.language], { type: "region" });
    const countryName = (code: string) => inLanguage.of(code) ?? code;
    const index = createSearchIndex(places, { ranks, countryName });
    if (names !== undefined) addOtherNames(index, { names, countryNames });
    return { locale, copy, places, index };
  }

  async #fetch(locale: string, copy?: CatalogCopy): Promise<CatalogCopy> {
    const signal = AbortSignal.timeout(this.#timeoutMs);
    try {
      const current = await refresh({ ...this.#source, locale, signal }, copy);
      if (current !== copy)
        await this.#store.set(this.#keyOf(locale), current).catch(() => undefined);
      return current;
    } catch (cause) {
      throw signal.aborted ? this.#tooLate(cause) : cause;
    }
  }

  #tooLate(cause: unknown): CatalogError {
    const { baseUrl } = this.#source;
    const failure = {
      code: "deadline_exceeded",
      message: `${baseUrl} has not sent the catalog within ${this.#timeoutMs} ms: try again, or raise timeoutMs`,
      retryAfterSeconds: null,
    };
    return new CatalogError(failure, { cause });
  }

  /** Reads the stored catalog; undefined if there is none, or if it is damaged. */
  async #stored(locale: string): Promise<CatalogCopy | undefined> {
    try {
      const copy = (await this.#store.get(this.#keyOf(locale))) as CatalogCopy; // as the next lines prove
      const { version, language, bytes, sha256 } = copy;
      if (typeof version !== "number" || typeof language !== "string") return undefined;
      return (await sha256Of(bytes)) === sha256 ? copy : undefined;
    } catch {
      return undefined;
    }
  }

  /** Deletes the catalogs of all locales but those that were opened last. */
  async #keepLastUsed(locale: string): Promise<void> {
    const prefix = this.#keyOf("");
    const listKey = `${this.#source.baseUrl}/locales`;
    const known = await this.#store.get(listKey).catch(() => undefined);
    const earlier = isTexts(known) ? known.filter((other) => other !== locale) : [];
    const kept = [locale, ...earlier].slice(0, STORED_LOCALES);
    await this.#store.set(listKey, kept);
    for (const key of await this.#store.keys())
      if (key.startsWith(prefix) && !kept.includes(key.slice(prefix.length)))
        await this.#store.delete(key);
  }

  #keyOf(locale: string): string {
    return `${this.#source.baseUrl} ${locale}`;
  }
}
