import { fromBinary } from "@bufbuild/protobuf";
import { LocationsResponseSchema } from "../../gen/locations/v1/locations_pb.ts";
import { CatalogError, type LocationsCatalog } from "./api.ts";
import { readBaseUrl } from "./base-url.ts";
import { type Catalog, joinCatalog, packCatalog } from "./catalog.ts";
import { type CatalogCopy, refresh, sha256Of, type Source } from "./refresh.ts";
import { SearchFiles, type SearchKnowledge } from "./search-files.ts";
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
  /** That which the index was made with. */
  readonly knowledge: SearchKnowledge;
  readonly places: Catalog;
  readonly index: SearchIndex;
}

interface Opened {
  readonly shown: Shown;
  readonly isStored: boolean;
  /** Ends when the files of the search are there, or are given up: perhaps later than the opening. */
  readonly files: Promise<void>;
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
    const opened = await orCatalogError(library.open(options.locale ?? ""));
    const catalog = new SearchableCatalog(library, opened.shown);
    catalog.#completeInBackground(opened);
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
    const opened = await orCatalogError(this.#library.open(locale));
    // Another one was asked for meanwhile.
    if (this.#wanted !== locale) return;
    this.#show(opened.shown);
    this.#completeInBackground(opened);
  }

  async refresh(): Promise<void> {
    const shown = this.#shown;
    const startedAt = performance.now();
    const running = this.#refreshing;
    if (running?.shown === shown && startedAt - running.startedAt < JOIN_MS) return running.ended;
    const refreshing = { shown, startedAt, ended: orCatalogError(this.#refresh(shown)) };
    this.#refreshing = refreshing;
    return refreshing.ended.finally(() => {
      if (this.#refreshing === refreshing) this.#refreshing = undefined;
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
    const deadline = this.#library.startDeadline();
    const files = this.#library.refreshFiles();
    this.#replace(before, await this.#library.refresh(before, deadline));
    // The catalog does not wait for what only the search needs.
    const filesShown = files.then(() => this.#showFiles());
    await endOrAbort(filesShown, deadline);
  }

  /** Brings the search up to date with its files as they are now. */
  async #showFiles(): Promise<void> {
    const before = this.#shown;
    this.#replace(before, await this.#library.withFiles(before));
  }

  /** Shows what is newer, unless another catalog is shown meanwhile. */
  #replace(before: Shown, current: Shown): void {
    if (current !== before && this.#shown.copy === before.copy) this.#show(current);
  }

  /** Brings what opening has not waited for. Whoever wants to know how it ends calls `refresh`. */
  #completeInBackground({ isStored, files }: Opened): void {
    const completed = isStored ? this.refresh() : files.then(() => this.#showFiles());
    completed.catch(() => undefined);
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

/** Waits until the work ends, or the signal is aborted. The work goes on. */
async function endOrAbort(work: Promise<void>, signal: AbortSignal): Promise<void> {
  const aborted = new Promise<void>((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });
  await Promise.race([work, aborted]);
}

interface LibraryOptions extends Source {
  readonly timeoutMs?: number;
}

interface Fetching {
  readonly locale: string;
  readonly deadline: AbortSignal;
  /** That which is there. */
  readonly copy?: CatalogCopy;
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

  /** Returns the signal that ends when what begins now has taken as long as it may. */
  startDeadline(): AbortSignal {
    return AbortSignal.timeout(this.#timeoutMs);
  }

  /** Opens the catalog of a locale: the stored one without any request, if there is one. */
  async open(locale: string): Promise<Opened> {
    const deadline = this.startDeadline();
    const stored = await this.#stored(locale);
    const files = stored ? this.#files.readStored() : this.#files.fetchMissing();
    const [copy] = await Promise.all([
      stored ?? this.#fetch({ locale, deadline }),
      endOrAbort(files, deadline),
    ]);
    const shown = await this.#prepare(locale, copy);
    await this.#keepLastUsed(locale).catch(() => undefined);
    return { shown, isStored: stored !== undefined, files };
  }

  /** Returns what is current: the same if it is. */
  async refresh(shown: Shown, deadline: AbortSignal): Promise<Shown> {
    const { locale, copy } = shown;
    const current = await this.#fetch({ locale, deadline, copy });
    return current === copy ? shown : this.#prepare(locale, current);
  }

  /** Fetches what the search needs besides. */
  refreshFiles(): Promise<void> {
    return this.#files.refresh();
  }

  /** Prepares what is shown with the files of the search as they are now: the same if it is. */
  async withFiles(shown: Shown): Promise<Shown> {
    const { ranks, names } = this.#files.known;
    const { locale, copy, knowledge } = shown;
    const isSame = ranks === knowledge.ranks && names === knowledge.names;
    return isSame ? shown : this.#prepare(locale, copy);
  }

  pack({ bytes }: CatalogCopy): string {
    const ranks = readRanks(this.#files.known.ranks);
    return packCatalog(fromBinary(LocationsResponseSchema, bytes), ranks);
  }

  async #prepare(locale: string, copy: CatalogCopy): Promise<Shown> {
    const knowledge = this.#files.known;
    const { names } = knowledge;
    const ranks = readRanks(knowledge.ranks);
    const places = await joinCatalog(fromBinary(LocationsResponseSchema, copy.bytes), ranks);
    const inLanguage = new Intl.DisplayNames([copy.language], { type: "region" });
    const countryName = (code: string) => inLanguage.of(code) ?? code;
    const index = createSearchIndex(places, { ranks, countryName });
    if (names !== undefined) addOtherNames(index, { names, countryNames });
    return { locale, copy, knowledge, places, index };
  }

  async #fetch({ locale, deadline, copy }: Fetching): Promise<CatalogCopy> {
    try {
      const current = await refresh({ ...this.#source, locale, signal: deadline }, copy);
      if (current !== copy)
        await this.#store.set(this.#keyOf(locale), current).catch(() => undefined);
      return current;
    } catch (cause) {
      throw deadline.aborted ? this.#tooLate(cause) : cause;
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
