/** The catalogs or searches of a service in this thread: one of each locale, however often it is opened. */
import { fromBinary } from "@bufbuild/protobuf";
import { LocationsResponseSchema } from "../../gen/locations/v1/locations_pb.ts";
import { CatalogError } from "./api.ts";
import { type Catalog, packCatalog, unpackCatalog } from "./catalog.ts";
import { withDeadline } from "./deadline.ts";
import { Joint, JOIN_MS, orAborted } from "./joint.ts";
import type { Caller } from "./open-options.ts";
import { type CatalogCopy, refresh, sha256Of, translate } from "./refresh.ts";
import { type FirstFile, SearchFiles, type SearchKnowledge } from "./search-files.ts";
import { type CityNamesFile, readCityNames } from "./search/city-names.ts";
import { countryNames } from "./search/country-names.ts";
import { readRanks } from "./search/ranks.ts";
import { namesNeeded } from "./search/search.ts";
import { addOtherNames, createSearchIndex, type SearchIndex } from "./search/search-index.ts";
import { joinServed } from "./search/served.ts";
import { isTexts } from "./search/shape.ts";
import type { Store } from "./store.ts";
import { type CountryNames, countryNamesIn } from "./suggestion.ts";
import { toCatalogError } from "./to-catalog-error.ts";

/** One version in one locale, ready to be searched. */
interface Shown {
  readonly copy: CatalogCopy;
  /** That which the index was made with. */
  readonly knowledge: SearchKnowledge;
  readonly cityNames: CityNamesFile | undefined;
  readonly places: Catalog;
  readonly index: SearchIndex;
  /** In the language of the copy. */
  readonly countryName: CountryNames;
}

/** The catalog of one locale, as all see it that have opened it. */
export interface Edition {
  readonly locale: string;
  readonly listeners: Set<() => void>;
  readonly refreshing: Joint<void>;
  shown: Shown;
}

interface Fetching {
  readonly locale: string;
  readonly caller: Caller;
  readonly deadline: AbortSignal;
  /** That which is there. */
  readonly copy?: CatalogCopy;
}

/** Of the names of countries, where the caller has named none. */
const DEFAULT_LANGUAGE = "en";

/** No locale is called so. */
const OF_THE_CALLER = "*";

const libraries = new WeakMap<Store, Map<string, Library>>();

/**
 * The library of a service, of which there is one in each store: of catalogs if its first file is
 * that of the ranks, and of searches without a catalog otherwise.
 */
export function libraryOf(baseUrl: string, store: Store, first: FirstFile = "ranks"): Library {
  const known = libraries.get(store) ?? new Map<string, Library>();
  libraries.set(store, known);
  const key = `${first} ${baseUrl}`;
  const library = known.get(key) ?? new Library(baseUrl, store, first);
  known.set(key, library);
  return library;
}

export class Library {
  readonly #baseUrl: string;
  readonly #store: Store;
  readonly #files: SearchFiles;
  readonly #hasCatalog: boolean;
  readonly #opening = new Map<string, Joint<Edition>>();
  /** As long as somebody has them. */
  readonly #editions = new Map<string, WeakRef<Edition>>();

  constructor(baseUrl: string, store: Store, first: FirstFile) {
    this.#baseUrl = baseUrl;
    this.#store = store;
    this.#hasCatalog = first === "ranks";
    const onChange = () => {
      for (const edition of this.#editions.values()) void this.#showFiles(edition.deref());
    };
    this.#files = new SearchFiles(baseUrl, { first, store, onChange });
  }

  /**
   * Opens the catalog of a locale: one that is open or stored at once, which it then refreshes.
   *
   * @throws CatalogError if it has to be fetched, and cannot be in time.
   */
  async open(locale: string, caller: Caller): Promise<Edition> {
    const known = this.#editions.get(locale)?.deref();
    if (known !== undefined) {
      this.#refreshInBackground(known, caller);
      return known;
    }
    const opening = this.#opening.get(locale) ?? new Joint();
    this.#opening.set(locale, opening);
    return this.#inTime(caller, (deadline) =>
      opening.join(() => this.#open({ locale, caller, deadline }), deadline),
    ).finally(() => this.#opening.delete(locale));
  }

  /**
   * Brings an edition and the files of the search up to date.
   *
   * @throws CatalogError if the service cannot be reached in time. What is shown stays.
   */
  async refresh(edition: Edition, caller: Caller): Promise<void> {
    await this.#inTime(caller, (deadline) =>
      edition.refreshing.join(() => this.#refresh(edition, caller, deadline), deadline),
    );
  }

  /** Reads and fetches the files of the search, those that are missing. */
  async prepareFiles({ fetch: send = fetch }: Caller): Promise<void> {
    await this.#files.fetchMissing(send);
  }

  /** Reads and fetches the names of cities in a language as well from now on. */
  wantCityNames(language: string): void {
    this.#files.wantCityNames(language);
  }

  /** Reads and fetches names in other languages as well from now on. */
  async wantNames(caller: Caller): Promise<void> {
    if (this.#files.wantNames()) await this.prepareFiles(caller);
  }

  /**
   * Has names in other languages fetched: at the first search of a catalog, without a catalog at the
   * first text that needs them, and waits only where nothing is found without them.
   */
  async prepareSearch({ shown }: Edition, typed: string, caller: Caller): Promise<void> {
    const need = this.#hasCatalog ? "perhaps" : namesNeeded(shown.index, typed);
    if (typed.trim() === "" || need === "no" || shown.knowledge.names !== undefined) return;
    this.#files.wantNames();
    const coming = this.prepareFiles(caller);
    if (need === "yes") await coming;
  }

  /** Has an answer that the caller has fetched itself, packed as `pack` does. */
  async editionOf(copy: CatalogCopy, packed: string): Promise<Edition> {
    return this.#keepEdition(OF_THE_CALLER, await this.#prepare(copy, packed));
  }

  /** Packs the catalog of an answer for another thread, which calls `unpackCatalog`. */
  pack({ bytes, language }: CatalogCopy): string {
    const ranks = readRanks(this.#files.known.ranks);
    const cityNames = readCityNames(this.#files.cityNames(language));
    return packCatalog(fromBinary(LocationsResponseSchema, bytes), ranks, cityNames);
  }

  async #open({ locale, caller, deadline }: Fetching): Promise<Edition> {
    const { fetch: send = fetch } = caller;
    this.#files.wantCityNames(locale);
    if (!this.#hasCatalog) return this.#openServed({ locale, caller, deadline });
    if (!caller.lazyNames) this.#files.wantNames();
    const stored = await this.#stored(locale);
    const files = stored ? this.#files.readStored() : this.#files.fetchMissing(send, JOIN_MS);
    const [copy] = await Promise.all([
      stored ?? this.#fetch({ locale, caller, deadline }),
      // Only the search needs them.
      orAborted(files, deadline).catch(() => undefined),
    ]);
    const edition = this.#keepEdition(locale, await this.#prepare(copy));
    await this.#keepLastUsed(locale, caller).catch(() => undefined);
    if (stored) this.#refreshInBackground(edition, caller);
    return edition;
  }

  /** Opens the search without a catalog. */
  async #openServed({ locale, caller, deadline }: Fetching): Promise<Edition> {
    const files = this.#files;
    if (!caller.lazyNames) files.wantNames();
    await files.readStored();
    const isStored = files.known.served !== undefined;
    if (!isStored) await orAborted(files.refresh(caller.fetch ?? fetch), deadline);
    if (files.known.served === undefined) throw files.failure ?? noServedFile(this.#baseUrl);
    const language = locale === "" ? DEFAULT_LANGUAGE : locale;
    const copy = { bytes: new Uint8Array(), sha256: "", version: 0, language };
    const edition = this.#keepEdition(locale, await this.#prepare(copy));
    if (isStored) this.#refreshInBackground(edition, caller);
    return edition;
  }

  #keepEdition(locale: string, shown: Shown): Edition {
    const listeners = new Set<() => void>();
    const edition = { locale, listeners, refreshing: new Joint<void>(), shown };
    // Workers from before 2025-05-05 have no WeakRef. Only what opens at the same time is shared there.
    if (typeof WeakRef === "function") this.#editions.set(locale, new WeakRef(edition));
    for (const [other, kept] of this.#editions)
      if (kept.deref() === undefined) this.#editions.delete(other);
    void this.#showFiles(edition); // which may have come meanwhile
    return edition;
  }

  /** Whoever wants to know how it ends calls `refresh`. */
  #refreshInBackground(edition: Edition, caller: Caller): void {
    this.refresh(edition, caller).catch(() => undefined);
  }

  async #refresh(edition: Edition, caller: Caller, deadline: AbortSignal): Promise<void> {
    const { locale, shown: before } = edition;
    const files = this.#files.refresh(caller.fetch ?? fetch);
    const copy = this.#hasCatalog
      ? await this.#fetch({ locale, caller, deadline, copy: before.copy })
      : before.copy;
    if (copy !== before.copy) {
      const current = await this.#prepare(copy);
      // Another refresh may have shown a newer one meanwhile.
      if (edition.shown.copy === before.copy) show(edition, current);
    }
    await orAborted(files, deadline).catch(() => undefined);
    await this.#showFiles(edition);
  }

  /** Brings the search of an edition up to date with its files as they are now. */
  async #showFiles(edition: Edition | undefined): Promise<void> {
    if (edition === undefined) return;
    const { known } = this.#files;
    const { shown: before } = edition;
    const { ranks, served, names } = before.knowledge;
    const isOfSamePlaces =
      known.ranks === ranks &&
      known.served === served &&
      this.#files.cityNames(before.copy.language) === before.cityNames;
    if (isOfSamePlaces && known.names === names) return;
    if (isOfSamePlaces && known.names !== undefined && names === undefined) {
      addOtherNames(before.index, { names: known.names, countryNames });
      return show(edition, { ...before, knowledge: known });
    }
    const current = await this.#prepare(before.copy);
    if (edition.shown === before) show(edition, current);
    else await this.#showFiles(edition);
  }

  async #prepare(copy: CatalogCopy, packed?: string): Promise<Shown> {
    const knowledge = this.#files.known;
    const cityNames = this.#files.cityNames(copy.language);
    const { names, served } = knowledge;
    const places =
      this.#hasCatalog || served === undefined
        ? await unpackCatalog(packed ?? this.pack(copy))
        : await joinServed(served, readCityNames(cityNames));
    const countryName = countryNamesIn(copy.language);
    const index = createSearchIndex(places, countryName);
    if (names !== undefined) addOtherNames(index, { names, countryNames });
    return { copy, knowledge, cityNames, places, index, countryName };
  }

  async #fetch({ locale, caller, deadline, copy }: Fetching): Promise<CatalogCopy> {
    const { baseUrl, fetch: send } = caller;
    const source = { baseUrl, locale, fetch: send, signal: deadline };
    const other = copy === undefined ? await this.#copyOfAnyLocale() : undefined;
    const current = await (other ? translate(source, other) : refresh(source, copy));
    if (current !== copy)
      await this.#store.set(this.#keyOf(locale), current).catch(() => undefined);
    return current;
  }

  #inTime<T>({ timeoutMs }: Caller, work: (deadline: AbortSignal) => Promise<T>): Promise<T> {
    return withDeadline(timeoutMs, async (deadline) => {
      try {
        return await work(deadline);
      } catch (cause) {
        if (!deadline.aborted) throw toCatalogError(cause);
        const failure = {
          code: "deadline_exceeded",
          message: `${this.#baseUrl} has not sent ${this.#hasCatalog ? "the catalog" : "its places"} within ${timeoutMs} ms: try again, or raise timeoutMs`,
          retryAfterSeconds: null,
        };
        throw new CatalogError(failure, { cause });
      }
    });
  }

  /** Returns the newest catalog that is open, or else the stored one that was opened last. */
  async #copyOfAnyLocale(): Promise<CatalogCopy | undefined> {
    const open = [...this.#editions.values()].flatMap((kept) => kept.deref()?.shown.copy ?? []);
    const [newest] = open.toSorted((a, b) => b.version - a.version);
    if (newest !== undefined) return newest;
    for (const locale of await this.#lastUsed()) {
      const copy = await this.#stored(locale);
      if (copy !== undefined) return copy;
    }
    return undefined;
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
  async #keepLastUsed(locale: string, { storedLocales }: Caller): Promise<void> {
    const prefix = this.#keyOf("");
    const earlier = (await this.#lastUsed()).filter((other) => other !== locale);
    const kept = [locale, ...earlier].slice(0, storedLocales);
    await this.#store.set(this.#listKey(), kept);
    for (const key of await this.#store.keys())
      if (key.startsWith(prefix) && !kept.includes(key.slice(prefix.length)))
        await this.#store.delete(key);
  }

  /** Lists the locales that were opened last, the last one first. */
  async #lastUsed(): Promise<readonly string[]> {
    const known = await this.#store.get(this.#listKey()).catch(() => undefined);
    return isTexts(known) ? known : [];
  }

  #listKey(): string {
    return `${this.#baseUrl}/locales`;
  }

  #keyOf(locale: string): string {
    return `${this.#baseUrl} ${locale}`;
  }
}

function show(edition: Edition, shown: Shown): void {
  edition.shown = shown;
  for (const listener of edition.listeners) listener();
}

function noServedFile(baseUrl: string): CatalogError {
  const message = `${baseUrl} has no places for openSearch: its service is older, or newer, than this package`;
  return new CatalogError({ code: "unimplemented", message, retryAfterSeconds: null });
}
