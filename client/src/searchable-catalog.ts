import { fromBinary } from "@bufbuild/protobuf";
import { LocationsResponseSchema } from "../../gen/locations/v1/locations_pb.ts";
import { CatalogError, type LocationsCatalog } from "./api.ts";
import { readBaseUrl } from "./base-url.ts";
import { type Catalog, packCatalog, unpackCatalog } from "./catalog.ts";
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
  /** The joined catalog for another thread, which calls `unpackCatalog`. */
  readonly packed: string;
  readonly places: () => Promise<Catalog>;
  /** Made when it is wanted, so that the places need not wait for it. */
  readonly index: () => Promise<SearchIndex>;
}

interface Opened {
  readonly shown: Shown;
  readonly isStored: boolean;
  /** Ends when the files of the search are there, or are given up: perhaps later than the opening. */
  readonly files: Promise<void>;
  readonly deadline: AbortSignal;
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
  /** Ends when the files of the search are there, or are given up. */
  #files: Promise<void> | undefined;

  private constructor(library: Library, shown: Shown) {
    this.#library = library;
    this.#shown = shown;
    this.#wanted = shown.locale;
  }

  /** Opens the stored catalog and refreshes it in the background, or else fetches it. */
  static async open(options: LibraryOptions, store: Store): Promise<SearchableCatalog> {
    const baseUrl = readBaseUrl(options.baseUrl);
    const library = new Library({ ...options, baseUrl }, store);
    const opened = await orCatalogError(library.open(options.locale ?? "", options.copy));
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
    // Whoever listens hears of them instead.
    if (this.#listeners.size === 0) await this.#files;
    const index = await this.#shown.index();
    return search(index, typed)
      .slice(0, limit)
      .flatMap(({ position, isUnderCity }) => {
        const place = index.places[position];
        return place ? [suggestionOf(place, isUnderCity)] : [];
      });
  }

  async places(): Promise<Catalog> {
    return this.#shown.places();
  }

  async bytes(): Promise<Uint8Array<ArrayBuffer>> {
    return this.#shown.copy.bytes;
  }

  pack(): string {
    return this.#shown.packed;
  }

  async setLocale(locale: string, copy?: CatalogCopy): Promise<void> {
    this.#wanted = locale;
    const opened = await orCatalogError(this.#library.open(locale, copy));
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
    this.#replace(before, this.#library.withFiles(before));
  }

  /** Shows what is newer, unless another catalog is shown meanwhile. */
  #replace(before: Shown, current: Shown): void {
    if (current !== before && this.#shown.copy === before.copy) this.#show(current);
  }

  /** Brings what opening has not waited for. Whoever wants to know how it ends calls `refresh`. */
  #completeInBackground({ isStored, files, deadline }: Opened): void {
    const completed = isStored ? this.refresh() : files.then(() => this.#showFiles());
    const ended = completed.catch(() => undefined);
    this.#files = isStored ? undefined : endOrAbort(ended, deadline);
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

function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => (made ??= { value: make() }).value;
}

interface LibraryOptions extends Source {
  readonly copy?: CatalogCopy;
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

  /** Opens the catalog of a locale: the given or the stored one without any request, if there is one. */
  async open(locale: string, given?: CatalogCopy): Promise<Opened> {
    const deadline = this.startDeadline();
    const stored = given ? undefined : await this.#stored(locale);
    const files = stored ? this.#files.readStored() : this.#files.fetchMissing();
    const [copy] = await Promise.all([
      given ?? stored ?? this.#fetchOrStored({ locale, deadline }),
      endOrAbort(stored ? files : this.#files.fetchMissingRanks(), deadline),
    ]);
    const shown = this.#prepare(locale, copy);
    const kept = this.#keep(locale, given).catch(() => undefined);
    if (given === undefined) await kept;
    return { shown, isStored: stored !== undefined, files, deadline };
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
  withFiles(shown: Shown): Shown {
    const { ranks, names } = this.#files.known;
    const { locale, copy, knowledge, packed } = shown;
    if (ranks !== knowledge.ranks) return this.#prepare(locale, copy);
    return names === knowledge.names ? shown : this.#prepare(locale, copy, packed);
  }

  #prepare(locale: string, copy: CatalogCopy, known?: string): Shown {
    const knowledge = this.#files.known;
    const { names } = knowledge;
    const ranks = readRanks(knowledge.ranks);
    const packed = known ?? packCatalog(fromBinary(LocationsResponseSchema, copy.bytes), ranks);
    const places = once(() => unpackCatalog(packed));
    const index = once(async () => {
      const inLanguage = new Intl.DisplayNames([copy.language], { type: "region" });
      const countryName = (code: string) => inLanguage.of(code) ?? code;
      const made = createSearchIndex(await places(), { ranks, countryName });
      if (names !== undefined) addOtherNames(made, { names, countryNames });
      return made;
    });
    return { locale, copy, knowledge, packed, places, index };
  }

  /** Without the service, a stored one in the same language will do: that of `en-US` for `en`. */
  async #fetchOrStored(fetching: Fetching): Promise<CatalogCopy> {
    try {
      return await this.#fetch(fetching);
    } catch (cause) {
      for (const locale of await this.#lastUsed()) {
        const copy = await this.#stored(locale);
        if (copy?.language === fetching.locale) return copy;
      }
      throw cause;
    }
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

  /** Stores what is whole, and deletes the catalogs of all locales but those that were opened last. */
  async #keep(locale: string, given: CatalogCopy | undefined): Promise<void> {
    if (given?.sha256 === "") return;
    if (given !== undefined) await this.#store.set(this.#keyOf(locale), given);
    const prefix = this.#keyOf("");
    const earlier = (await this.#lastUsed()).filter((other) => other !== locale);
    const kept = [locale, ...earlier].slice(0, STORED_LOCALES);
    await this.#store.set(this.#lastUsedKey, kept);
    for (const key of await this.#store.keys())
      if (key.startsWith(prefix) && !kept.includes(key.slice(prefix.length)))
        await this.#store.delete(key);
  }

  async #lastUsed(): Promise<readonly string[]> {
    const known = await this.#store.get(this.#lastUsedKey).catch(() => undefined);
    return isTexts(known) ? known : [];
  }

  get #lastUsedKey(): string {
    return `${this.#source.baseUrl}/locales`;
  }

  #keyOf(locale: string): string {
    return `${this.#source.baseUrl} ${locale}`;
  }
}
