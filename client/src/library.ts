/** The catalogs or searches of a service in this thread: one of each locale, however often it is opened. */
import { CatalogError } from "./api.ts";
import type { Catalog } from "./catalog.ts";
import { withDeadline } from "./deadline.ts";
import { Joint, orAborted } from "./joint.ts";
import type { Caller } from "./options.ts";
import type { Source } from "./read-answer.ts";
import { type fetchFile, type FileName, type KnownFiles, pathOf } from "./search-files.ts";
import { countryNames } from "./search/country-names.ts";
import { namesNeeded } from "./search/search.ts";
import { addOtherNames, createSearchIndex, type SearchIndex } from "./search/search-index.ts";
import { type Copy, isNewer, type Store } from "./store.ts";
import { type CountryNames, countryNamesIn } from "./suggestion.ts";
import { toCatalogError } from "./to-catalog-error.ts";

/** What copies are made of: those of `openCatalog`, or those of `openSearch`. */
export interface Kind {
  /** As a key has it, and an error. */
  readonly name: "catalog" | "places";
  /** Whether each search has names in other languages fetched, or only one that needs them. */
  readonly areNamesAlwaysWanted: boolean;
  /** What it has besides, if the service does: without that it only finds less well. */
  readonly files: readonly FileName[];
  /**
   * Fetches what nothing works without, as far as it differs from an earlier copy.
   *
   * @throws CatalogError if it cannot.
   */
  readonly fetchMain: (source: Source, before: Copy | undefined) => Promise<Partial<Copy>>;
  readonly fetchFile: typeof fetchFile;
  readonly join: (copy: Copy) => Promise<Catalog>;
  /** Of the names of regions and countries. */
  readonly languageOf: (copy: Copy, locale: string) => string;
  /** Packs a catalog for another thread, which calls `unpackCatalog`. */
  readonly pack?: (copy: Copy) => string;
}

/** A copy in one locale, ready to be searched. */
interface Shown {
  readonly copy: Copy;
  readonly language: string;
  readonly places: Catalog;
  readonly index: SearchIndex;
  readonly countryName: CountryNames;
}

/** A copy in one locale, as all see it that have opened it. */
export interface Edition {
  readonly locale: string;
  readonly listeners: Set<() => void>;
  readonly refreshing: Joint<void>;
  shown: Shown;
  /** Why it could not be refreshed, or has a part less. */
  lastError: CatalogError | null;
}

interface Opening {
  readonly locale: string;
  readonly caller: Caller;
  readonly deadline: AbortSignal;
}

interface Fetched {
  readonly copy: Copy;
  /** Why a file besides has not come. */
  readonly failure: unknown;
}

/** A file of the search that failed is tried again after so long, and so is one that nobody has got. */
export const FILE_MS = 20_000;

interface FetchingFile {
  readonly startedAt: number;
  readonly ended: Promise<unknown>;
  isThere: boolean;
}

const libraries = new WeakMap<Store, Map<string, Library>>();

/** The library of a service, of which there is one of each kind in each store. */
export function libraryOf(baseUrl: string, store: Store, kind: Kind): Library {
  const known = libraries.get(store) ?? new Map<string, Library>();
  libraries.set(store, known);
  const key = `${baseUrl} ${kind.name}`;
  const library = known.get(key) ?? new Library(key, store, kind);
  known.set(key, library);
  return library;
}

export class Library {
  readonly #prefix: string;
  readonly #store: Store;
  readonly #kind: Kind;
  readonly #opening = new Map<string, Joint<Edition>>();
  /** As long as somebody has them. */
  readonly #editions = new Map<string, WeakRef<Edition>>();
  /** By their paths. */
  readonly #files = new Map<string, FetchingFile>();
  #areNamesWanted = false;

  /** @param prefix of the keys of its copies. */
  constructor(prefix: string, store: Store, kind: Kind) {
    this.#prefix = prefix;
    this.#store = store;
    this.#kind = kind;
  }

  /**
   * Opens a locale: one that is open or stored at once, which it then refreshes.
   *
   * @throws CatalogError if it has to be fetched, and cannot be in time.
   */
  async open(locale: string, caller: Caller): Promise<Edition> {
    if (!caller.lazyNames) this.#areNamesWanted = true;
    const known = this.#editions.get(locale)?.deref();
    if (known !== undefined) {
      this.#refreshInBackground(known, caller);
      if (!this.#isComplete(known.shown.copy))
        await this.#addNames(known, caller).catch(() => undefined);
      return known;
    }
    const opening = this.#opening.get(locale) ?? new Joint();
    this.#opening.set(locale, opening);
    return this.#inTime(caller, (deadline) =>
      opening.join(() => this.#open({ locale, caller, deadline }), deadline),
    ).finally(() => this.#opening.delete(locale));
  }

  /**
   * Brings an edition up to date.
   *
   * @throws CatalogError if the service could not be asked in time for all that it is made of. What is
   *   shown stays.
   */
  async refresh(edition: Edition, caller: Caller): Promise<void> {
    try {
      await this.#inTime(caller, (deadline) =>
        edition.refreshing.join(() => this.#refresh(edition, caller, deadline), deadline),
      );
      edition.lastError = null;
    } catch (cause) {
      edition.lastError = toCatalogError(cause);
      throw edition.lastError;
    } finally {
      notify(edition);
    }
  }

  /**
   * Has names in other languages fetched: at the first search of a catalog, without a catalog at the
   * first text that needs them. Waits for them if nothing is found without them.
   *
   * @throws CatalogError if such a text cannot be searched without them.
   */
  async prepareSearch(edition: Edition, typed: string, caller: Caller): Promise<void> {
    const { copy, index } = edition.shown;
    if (copy.files.names !== undefined || typed.trim() === "") return;
    const need = namesNeeded(index, typed);
    if (need === "no" && !this.#kind.areNamesAlwaysWanted) return;
    const coming = this.#addNames(edition, caller);
    if (need === "yes") await coming;
    else coming.catch(() => undefined);
  }

  /**
   * Fetches a file of the search once for all editions.
   *
   * @throws CatalogError if it does not come; again without another try, until `FILE_MS` later.
   */
  async file<Name extends FileName>(name: Name, caller: Caller): Promise<KnownFiles[Name]> {
    const now = performance.now();
    const path = pathOf(name, caller.locale) ?? name;
    const known = this.#files.get(path);
    if (known?.isThere === true || (known && now - known.startedAt < FILE_MS))
      // Whoever began to fetch it may be gone, with its deadline.
      return this.#inTime(caller, (deadline) => orAborted(known.ended, deadline)) as Promise<
        KnownFiles[Name] // of this name
      >;
    const ended = this.#inTime(caller, (signal) =>
      this.#kind.fetchFile({ ...sourceOf(caller), locale: caller.locale, signal }, name),
    );
    const fetching: FetchingFile = { startedAt: now, ended, isThere: false };
    this.#files.set(path, fetching);
    const file = await ended;
    fetching.isThere = true;
    return file;
  }

  /** Has a copy that the caller has fetched and joined itself. */
  adopt(copy: Copy, locale: string, places: Catalog): Edition {
    return this.#keepEdition(locale, this.#index(copy, locale, places));
  }

  /** Packs a catalog for another thread, which calls `unpackCatalog`. */
  pack({ shown: { copy } }: Edition): string {
    if (this.#kind.pack === undefined) throw new Error("there is no catalog");
    return this.#kind.pack(copy);
  }

  async #open({ locale, caller, deadline }: Opening): Promise<Edition> {
    const stored = await this.#store.read(this.#keyOf(locale));
    const isStored = stored !== undefined && this.#isComplete(stored);
    const { copy, failure } = isStored
      ? { copy: stored, failure: undefined }
      : await this.#fetch({ locale, caller, deadline }, stored ?? (await this.#sharedCopy()));
    const edition = this.#keepEdition(locale, await this.#prepare(copy, locale));
    if (failure !== undefined) edition.lastError = this.#errorOf(failure, caller, deadline);
    if (!isStored) await this.#write(edition);
    await this.#store.keepLastUsed(this.#prefix, this.#keyOf(locale), caller.storedLocales);
    if (isStored) this.#refreshInBackground(edition, caller);
    return edition;
  }

  #keepEdition(locale: string, shown: Shown): Edition {
    const listeners = new Set<() => void>();
    const edition: Edition = {
      locale,
      listeners,
      refreshing: new Joint<void>(),
      shown,
      lastError: null,
    };
    // Workers from before 2025-05-05 have no WeakRef. Only what opens at the same time is shared there.
    if (typeof WeakRef === "function") this.#editions.set(locale, new WeakRef(edition));
    for (const [other, kept] of this.#editions)
      if (kept.deref() === undefined) this.#editions.delete(other);
    return edition;
  }

  /** Whoever wants to know how it ends calls `refresh`, or reads `lastError`. */
  #refreshInBackground(edition: Edition, caller: Caller): void {
    this.refresh(edition, caller).catch(() => undefined);
  }

  async #refresh(edition: Edition, caller: Caller, deadline: AbortSignal): Promise<void> {
    const { locale, shown } = edition;
    const { copy: fetched, failure } = await this.#fetch({ locale, caller, deadline }, shown.copy);
    await this.#show(edition, (now) =>
      isNewer(now, fetched) ? now : { ...fetched, files: { ...now.files, ...fetched.files } },
    );
    await this.#write(edition);
    if (failure !== undefined) throw failure;
  }

  /** Fetches what has changed since an earlier copy, or all of it. */
  async #fetch({ locale, caller, deadline }: Opening, before?: Copy): Promise<Fetched> {
    const startedAt = Date.now();
    const source = { ...sourceOf(caller), locale, signal: deadline };
    const names = this.#areNamesWanted || before?.files.names !== undefined;
    const wanted: readonly FileName[] = [...this.#kind.files, ...(names ? ["names" as const] : [])];
    const main = this.#kind.fetchMain(source, before);
    const coming = Promise.allSettled(
      wanted.map(async (name) => ({
        [name]: await this.#kind.fetchFile(source, name, before?.files[name]),
      })),
    );
    const parts = await main;
    const came = await coming;
    const files = came.map((one) => (one.status === "fulfilled" ? one.value : {}));
    const failed = came.find((one) => one.status === "rejected");
    const copy: Copy = {
      version: parts.catalog?.version ?? 0,
      lookedAt: failed && before ? before.lookedAt : startedAt,
      ...parts,
      files: Object.assign({}, before?.files, parts.files, ...files) as KnownFiles, // each by its name
    };
    return { copy, failure: failed?.reason };
  }

  async #addNames(edition: Edition, caller: Caller): Promise<void> {
    this.#areNamesWanted = true;
    const names = await this.file("names", caller);
    if (names === undefined || edition.shown.copy.files.names !== undefined) return;
    await this.#show(edition, (now) => ({ ...now, files: { names, ...now.files } }));
    notify(edition);
    await this.#write(edition);
  }

  /** Shows another copy, as it follows from the one that is shown when it is ready. */
  async #show(edition: Edition, change: (now: Copy) => Copy): Promise<void> {
    for (;;) {
      const before = edition.shown;
      const current = await this.#prepare(change(before.copy), edition.locale, before);
      if (edition.shown !== before) continue;
      edition.shown = current;
      return;
    }
  }

  async #prepare(copy: Copy, locale: string, before?: Shown): Promise<Shown> {
    const { names } = copy.files;
    const { names: namesBefore, ...filesBefore } = before?.copy.files ?? {};
    const isOfSamePlaces =
      before !== undefined &&
      before.copy.catalog === copy.catalog &&
      filesBefore.ranks === copy.files.ranks &&
      filesBefore.cities === copy.files.cities &&
      filesBefore.served === copy.files.served;
    if (isOfSamePlaces && (namesBefore === names || !namesBefore)) {
      if (names && !namesBefore)
        addOtherNames(before.index, { names: names.content, countryNames });
      return { ...before, copy };
    }
    const places = isOfSamePlaces ? before.places : await this.#kind.join(copy);
    return this.#index(copy, locale, places);
  }

  #index(copy: Copy, locale: string, places: Catalog): Shown {
    const { names } = copy.files;
    const language = this.#kind.languageOf(copy, locale);
    const countryName = countryNamesIn(language);
    const index = createSearchIndex(places, countryName);
    if (names) addOtherNames(index, { names: names.content, countryNames });
    return { copy, language, places, index, countryName };
  }

  /** Whether a copy has all that opening waits for. */
  #isComplete({ files }: Copy): boolean {
    const isNamed = !this.#areNamesWanted || files.names !== undefined;
    return isNamed && this.#kind.files.every((name) => files[name] !== undefined);
  }

  async #write({ locale, shown: { copy } }: Edition): Promise<void> {
    if (this.#isComplete(copy)) await this.#store.write(this.#keyOf(locale), copy);
  }

  #inTime<T>(caller: Caller, work: (deadline: AbortSignal) => Promise<T>): Promise<T> {
    return withDeadline(caller.timeoutMs, (deadline) =>
      work(deadline).catch((cause: unknown) => {
        throw this.#errorOf(cause, caller, deadline);
      }),
    );
  }

  #errorOf(cause: unknown, { baseUrl, timeoutMs }: Caller, deadline: AbortSignal): CatalogError {
    if (!deadline.aborted) return toCatalogError(cause);
    const failure = {
      code: "deadline_exceeded",
      message: `${baseUrl} has not sent the ${this.#kind.name} within ${timeoutMs} ms: try again, or raise timeoutMs`,
      retryAfterSeconds: null,
    };
    return new CatalogError(failure, { cause });
  }

  /** Returns what all locales share, of the newest copy that is open or the stored one that was used last. */
  async #sharedCopy(): Promise<Copy | undefined> {
    const open = [...this.#editions.values()].flatMap((kept) => kept.deref()?.shown.copy ?? []);
    const [newest] = open.toSorted((a, b) => b.version - a.version);
    const copy = newest ?? (await this.#lastUsedCopy());
    if (copy === undefined) return undefined;
    const { cities: _, ...files } = copy.files;
    return { ...copy, files };
  }

  async #lastUsedCopy(): Promise<Copy | undefined> {
    for (const key of await this.#store.lastUsed(this.#prefix)) {
      const copy = await this.#store.read(key);
      if (copy !== undefined) return copy;
    }
    return undefined;
  }

  #keyOf(locale: string): string {
    return `${this.#prefix} ${locale}`;
  }
}

function sourceOf({ baseUrl, fetch }: Caller): Source {
  return { baseUrl, fetch };
}

function notify({ listeners }: Edition): void {
  for (const listener of listeners) listener();
}
