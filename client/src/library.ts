/** The catalogs or searches of a service in this thread: one of each locale, however often it is opened. */
import { CatalogError } from "./api.ts";
import type { Catalog } from "./catalog.ts";
import { withDeadline } from "./deadline.ts";
import { Joint, JOIN_MS, orAborted } from "./joint.ts";
import type { Caller } from "./options.ts";
import type { Source } from "./read-answer.ts";
import { type fetchFile, type FileName, type KnownFiles, pathOf } from "./search-files.ts";
import { countryNames } from "./search/country-names.ts";
import { namesNeeded, search } from "./search/search.ts";
import { addOtherNames, createSearchIndex, type SearchIndex } from "./search/search-index.ts";
import { type Copy, isNewer, type Store } from "./store.ts";
import { type CountryNames, countryNamesIn } from "./suggestion.ts";
import { toCatalogError } from "./to-catalog-error.ts";

/** Describes the copies of `openCatalog`, or those of `openSearch`. */
export interface Kind {
  /** Part of keys and of error messages. */
  readonly name: "catalog" | "places";
  /** Whether each search has names in other languages fetched, or only one that needs them. */
  readonly areNamesAlwaysWanted: boolean;
  /**
   * Fetches the part that nothing works without, as far as it differs from an earlier copy. Without
   * names of cities and in other languages, which are fetched besides, a search only finds less.
   *
   * @throws CatalogError if it fails.
   */
  readonly fetchMain: (source: Source, before: Copy | undefined) => Promise<Partial<Copy>>;
  /** Whether that part is the same in all languages, so that an earlier copy serves each of them. */
  readonly isMainShared: boolean;
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

/** A copy in one locale, shared by all who have opened it. */
export interface Edition {
  readonly locale: string;
  readonly listeners: Set<() => void>;
  shown: Shown;
  /** Why the last refresh failed, or a part is missing. */
  lastError: CatalogError | null;
}

interface Opening {
  readonly locale: string;
  readonly caller: Caller;
  readonly deadline: AbortSignal;
}

interface Fetched {
  readonly copy: Copy;
  /** Why a part of it is missing, or old. */
  readonly failure: unknown;
}

interface FailedFile {
  readonly failure: CatalogError;
  readonly failedAt: number;
}

interface Joined<Key, T> {
  readonly joint: Joint<Key, T>;
  readonly key: Key;
  readonly caller: Caller;
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
  readonly #opening = new Joint<string, Edition>();
  readonly #refreshing = new Joint<Edition, void>();
  readonly #fetching = new Joint<string, unknown>();
  /** As long as somebody holds them. */
  readonly #editions = new Map<string, WeakRef<Edition>>();
  /** By their paths. */
  readonly #files = new Map<string, { readonly file: unknown } | FailedFile>();
  #areNamesWanted = false;

  /** @param prefix of the keys of its copies. */
  constructor(prefix: string, store: Store, kind: Kind) {
    this.#prefix = prefix;
    this.#store = store;
    this.#kind = kind;
  }

  /**
   * Opens a locale: at once if it is open or stored, and refreshes it then.
   *
   * @throws CatalogError if it has to be fetched, and does not arrive in time.
   */
  async open(locale: string, caller: Caller): Promise<Edition> {
    if (!caller.lazyNames) this.#areNamesWanted = true;
    const known = this.#editions.get(locale)?.deref();
    if (known !== undefined) {
      this.#refreshInBackground(known, caller);
      if (this.#areNamesWanted && known.shown.copy.files.names === undefined)
        await this.#addNames(known, caller).catch(() => undefined);
      return known;
    }
    const joined = { joint: this.#opening, key: locale, caller };
    return this.#join(joined, (deadline) => this.#open({ locale, caller, deadline }));
  }

  /**
   * Brings an edition up to date.
   *
   * @throws CatalogError if the service does not answer in time for all of its parts. The copy that is
   *   shown stays.
   */
  async refresh(edition: Edition, caller: Caller): Promise<void> {
    const joined = { joint: this.#refreshing, key: edition, caller };
    try {
      await this.#join(joined, (deadline) => this.#refresh(edition, caller, deadline));
      edition.lastError = null;
    } catch (cause) {
      edition.lastError = toCatalogError(cause);
      throw edition.lastError;
    } finally {
      notify(edition);
    }
  }

  /**
   * Fetches names in other languages: at the first search of a catalog, or at the first text that needs
   * them where there is no catalog. Waits for them while the first result is a guess.
   *
   * @throws CatalogError if they do not arrive for a text that finds nothing without them.
   */
  async prepareSearch(edition: Edition, typed: string, caller: Caller): Promise<void> {
    const { copy, index } = edition.shown;
    if (copy.files.names !== undefined || typed.trim() === "") return;
    const need = namesNeeded(index, typed);
    if (need === "no" && !this.#kind.areNamesAlwaysWanted) return;
    const coming = this.#addNames(edition, caller);
    if (need === "yes") return coming;
    const perhaps = coming.catch(() => undefined);
    if (need === "perhaps" && search(index, typed)[0]?.isPartial) await perhaps;
  }

  /**
   * Fetches a file of the search once for all editions.
   *
   * @throws CatalogError if that fails; until `JOIN_MS` later also without another attempt.
   */
  async file<Name extends FileName>(name: Name, caller: Caller): Promise<KnownFiles[Name]> {
    const path = pathOf(name, caller.locale) ?? name;
    const known = this.#files.get(path);
    if (known && "file" in known) return known.file as KnownFiles[Name]; // of this path
    if (known) failAgain(known);
    const joined = { joint: this.#fetching, key: path, caller };
    return this.#join(joined, async (signal) => {
      const source = { ...sourceOf(caller), locale: caller.locale, signal };
      try {
        const file = await this.#kind.fetchFile(source, name);
        this.#files.set(path, { file });
        return file;
      } catch (cause) {
        const failure = this.#errorOf(cause, caller, signal);
        this.#files.set(path, { failure, failedAt: performance.now() });
        throw failure;
      }
    }) as Promise<KnownFiles[Name]>; // of this path
  }

  /** Takes a copy that the caller has fetched and joined itself. */
  adopt(copy: Copy, locale: string, places: Catalog): Edition {
    return this.#keepEdition(locale, this.#index(copy, locale, places));
  }

  /** Packs a catalog for another thread, which calls `unpackCatalog`. */
  pack({ shown: { copy } }: Edition): string {
    if (this.#kind.pack === undefined) throw new Error("there is no catalog");
    return this.#kind.pack(copy);
  }

  async #open({ locale, caller, deadline }: Opening): Promise<Edition> {
    // The other half is for the service.
    const stored = await this.#store.read(this.#keyOf(locale), caller.timeoutMs / 2);
    const isStored = stored !== undefined && this.#isComplete(stored);
    const { copy, failure } = isStored
      ? { copy: stored, failure: undefined }
      : await this.#fetch({ locale, caller, deadline }, stored ?? (await this.#sharedCopy()));
    const edition = this.#keepEdition(locale, await this.#prepare(copy, locale));
    if (failure !== undefined) edition.lastError = this.#errorOf(failure, caller, deadline);
    await untilLate(this.#keep(edition, caller, isStored), deadline);
    if (isStored) this.#refreshInBackground(edition, caller);
    return edition;
  }

  #keepEdition(locale: string, shown: Shown): Edition {
    const listeners = new Set<() => void>();
    const edition: Edition = { locale, listeners, shown, lastError: null };
    // Workers from before 2025-05-05 have no WeakRef. Only what opens at the same time is shared there.
    if (typeof WeakRef === "function") this.#editions.set(locale, new WeakRef(edition));
    for (const [other, kept] of this.#editions)
      if (kept.deref() === undefined) this.#editions.delete(other);
    return edition;
  }

  /** Its failure is in `lastError`. */
  #refreshInBackground(edition: Edition, caller: Caller): void {
    this.refresh(edition, caller).catch(() => undefined);
  }

  async #refresh(edition: Edition, caller: Caller, deadline: AbortSignal): Promise<void> {
    const { locale, shown } = edition;
    const { copy: fetched, failure } = await this.#fetch({ locale, caller, deadline }, shown.copy);
    await this.#show(edition, (now) =>
      isNewer(now, fetched) ? now : { ...fetched, files: { ...now.files, ...fetched.files } },
    );
    await untilLate(this.#write(edition), deadline);
    if (failure !== undefined) throw failure;
  }

  /** Fetches what has changed since an earlier copy, or all of it. */
  async #fetch({ locale, caller, deadline }: Opening, before?: Copy): Promise<Fetched> {
    const startedAt = Date.now();
    const source = { ...sourceOf(caller), locale, signal: deadline };
    const names = this.#areNamesWanted || before?.files.names !== undefined;
    const wanted: readonly FileName[] = names ? ["cities", "names"] : ["cities"];
    let failure: unknown;
    const main = this.#kind.fetchMain(source, before).catch((cause: unknown): Partial<Copy> => {
      if (before === undefined || !this.#kind.isMainShared) throw cause;
      failure = cause;
      return {};
    });
    const coming = Promise.allSettled(
      wanted.map(async (name) => ({
        [name]: await this.#kind.fetchFile(source, name, before?.files[name]),
      })),
    );
    const parts = await main;
    const came = await coming;
    const files = came.map((one) => (one.status === "fulfilled" ? one.value : {}));
    failure ??= came.find((one) => one.status === "rejected")?.reason;
    const copy: Copy = {
      version: parts.catalog?.version ?? 0,
      lookedAt: failure !== undefined && before ? before.lookedAt : startedAt,
      ...parts,
      files: Object.assign({}, before?.files, parts.files, ...files) as KnownFiles, // each by its name
    };
    return { copy, failure };
  }

  async #addNames(edition: Edition, caller: Caller): Promise<void> {
    this.#areNamesWanted = true;
    const names = await this.file("names", caller);
    if (names === undefined || edition.shown.copy.files.names !== undefined) return;
    await this.#show(edition, (now) => ({ ...now, files: { names, ...now.files } }));
    notify(edition);
    // No search waits for the store, which never fails.
    void this.#write(edition);
  }

  /** Shows a changed copy. Starts over if another one is shown when it is ready. */
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
    return isNamed && files.cities !== undefined;
  }

  async #keep(edition: Edition, caller: Caller, isStored: boolean): Promise<void> {
    // In this order, because another tab deletes a record that is not listed.
    await this.#store.keepLastUsed(this.#prefix, this.#keyOf(edition.locale), caller.storedLocales);
    if (!isStored) await this.#write(edition);
  }

  async #write({ locale, shown: { copy } }: Edition): Promise<void> {
    if (!this.#isComplete(copy)) return;
    const key = this.#keyOf(locale);
    // Another tab may have stored names, which this one has not fetched.
    const stored = copy.files.names === undefined ? await this.#store.read(key) : undefined;
    const names = stored?.files.names;
    const files = { ...copy.files, ...(names && { names }) };
    await this.#store.write(key, { ...copy, files });
  }

  /** Joins the work of another caller, or does it within the time limit of this one. */
  #join<Key, T>(
    { joint, key, caller }: Joined<Key, T>,
    work: (deadline: AbortSignal) => Promise<T>,
  ): Promise<T> {
    return withDeadline(caller.timeoutMs, (deadline) => {
      const fail = (cause: unknown) => {
        throw this.#errorOf(cause, caller, deadline);
      };
      return joint.join(key, () => work(deadline).catch(fail), deadline).catch(fail);
    });
  }

  #errorOf(cause: unknown, { baseUrl, timeoutMs }: Caller, deadline: AbortSignal): CatalogError {
    if (!deadline.aborted) return toCatalogError(cause);
    const failure = {
      code: "deadline_exceeded",
      message: `the ${this.#kind.name} of ${baseUrl} did not arrive within ${timeoutMs} ms: try again, or raise timeoutMs`,
      retryAfterSeconds: null,
    };
    return new CatalogError(failure, { cause });
  }

  /** Returns the part that all locales share, of the newest open copy, or of the stored one used last. */
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

/** Waits for the store, but not beyond the caller's time limit. The store goes on. */
async function untilLate(storing: Promise<void>, deadline: AbortSignal): Promise<void> {
  await orAborted(storing, deadline).catch(() => undefined);
}

/** @throws CatalogError if a file failed so recently that it is not fetched again. */
function failAgain({ failure, failedAt }: FailedFile): void {
  const passedMs = performance.now() - failedAt;
  if (passedMs >= JOIN_MS) return;
  const { code, message, retryAfterSeconds } = failure;
  const leftMs = Math.max(JOIN_MS, (retryAfterSeconds ?? 0) * 1000) - passedMs;
  const again = { code, message, retryAfterSeconds: Math.ceil(leftMs / 1000) };
  throw new CatalogError(again, { cause: failure });
}

function sourceOf({ baseUrl, fetch }: Caller): Source {
  return { baseUrl, fetch };
}

function notify({ listeners }: Edition): void {
  for (const listener of listeners) listener();
}
