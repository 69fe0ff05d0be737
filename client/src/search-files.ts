import { withDeadline } from "./deadline.ts";
import { orAborted } from "./joint.ts";
import { refusal, unreachable } from "./read-answer.ts";
import { cityNameLocale, type CityNamesFile, isCityNamesFile } from "./search/city-names.ts";
import { isRanksFile, type RanksFile } from "./search/ranks.ts";
import { isOtherNames, type OtherNames } from "./search/search-index.ts";
import { isServedFile, type ServedFile } from "./search/served.ts";
import type { Store } from "./store.ts";

/** A file that takes longer is given up, and one that has failed is tried again after it. */
export const TIMEOUT_MS = 20_000;

interface KnownFile<Content> {
  readonly etag: string;
  readonly content: Content;
}

/** The files of the search that are there. */
export interface SearchKnowledge {
  /** Of the places of the catalog. */
  readonly ranks: RanksFile | undefined;
  /** The places themselves, where there is no catalog. */
  readonly served: ServedFile | undefined;
  readonly names: OtherNames | undefined;
}

type Fetch = typeof fetch;

/** Which of the files is read first. */
export type FirstFile = "ranks" | "served";

/** The files of `/search/v1`. A catalog needs none of them: what fails, here, is missing. */
export class SearchFiles {
  readonly #first: FirstFile;
  readonly #ranks: SearchFile<RanksFile>;
  readonly #served: SearchFile<ServedFile>;
  readonly #names: SearchFile<OtherNames>;
  /** By locale. */
  readonly #cityNames = new Map<string | undefined, SearchFile<CityNamesFile>>();
  readonly #open: (locale: string) => SearchFile<CityNamesFile>;
  #areNamesWanted = false;

  /**
   * @param baseUrl address of the service, without a slash at its end.
   * @param place with `onChange`, which is called when a file is there, or another one.
   */
  constructor(baseUrl: string, { first, ...place }: FilePlace & { readonly first: FirstFile }) {
    this.#first = first;
    this.#ranks = new SearchFile(`${baseUrl}/search/v1/ranks.json`, isRanksFile, place);
    this.#served = new SearchFile(`${baseUrl}/search/v1/served.json`, isServedFile, place);
    this.#names = new SearchFile(`${baseUrl}/search/v1/names.json`, isOtherNames, place);
    this.#open = (locale) =>
      new SearchFile(`${baseUrl}/search/v1/cities/${locale}.json`, isCityNamesFile, place);
  }

  /** What is there. */
  get known(): SearchKnowledge {
    return {
      ranks: this.#ranks.content,
      served: this.#served.content,
      names: this.#names.content,
    };
  }

  /** Why the first file has not come. */
  get failure(): unknown {
    return this.#firstFile.failure;
  }

  /** From now on, names are read and fetched as well. Returns whether they were not before. */
  wantNames(): boolean {
    const isFirst = !this.#areNamesWanted;
    this.#areNamesWanted = true;
    return isFirst;
  }

  /** From now on, the names of cities in a language are read and fetched as well. */
  wantCityNames(language: string): void {
    const locale = cityNameLocale(language);
    if (locale === undefined || this.#cityNames.has(locale)) return;
    this.#cityNames.set(locale, this.#open(locale));
  }

  /** The names of cities in a language that are there. */
  cityNames(language: string): CityNamesFile | undefined {
    return this.#cityNames.get(cityNameLocale(language))?.content;
  }

  /** Reads what is stored. */
  async readStored(): Promise<void> {
    await this.#each((file) => file.readStored());
  }

  /**
   * Reads what is stored, and fetches what is missing, or waits for a fetch that has begun.
   *
   * @param joinMs age from which a fetch counts as lost, as with a Worker's request that has ended.
   */
  async fetchMissing(send: Fetch, joinMs = TIMEOUT_MS): Promise<void> {
    await this.#each((file) => file.fetchMissing(send, joinMs));
  }

  /** Fetches what is missing or has changed. */
  async refresh(send: Fetch): Promise<void> {
    await this.#each((file) => file.refresh(send));
  }

  async #each(work: (file: SearchFile<unknown>) => Promise<void>): Promise<void> {
    const names = this.#areNamesWanted ? [this.#names] : [];
    await Promise.all([this.#firstFile, ...names, ...this.#cityNames.values()].map(work));
  }

  get #firstFile(): SearchFile<unknown> {
    return this.#first === "ranks" ? this.#ranks : this.#served;
  }
}

interface FilePlace {
  readonly store: Store;
  readonly onChange: () => void;
}

class SearchFile<Content> {
  readonly #url: string;
  readonly #isContent: (content: unknown) => content is Content;
  readonly #place: FilePlace;
  #fetching: { readonly startedAt: number; readonly ended: Promise<void> } | undefined;
  #known: KnownFile<Content> | undefined;
  /** Of the last fetch. */
  failure: unknown;

  constructor(url: string, isContent: (content: unknown) => content is Content, place: FilePlace) {
    this.#url = url;
    this.#isContent = isContent;
    this.#place = place;
  }

  get content(): Content | undefined {
    return this.#known?.content;
  }

  async readStored(): Promise<void> {
    if (this.#known !== undefined) return;
    const stored = await this.#place.store.get(this.#url).catch(() => undefined);
    // Another one may have been fetched meanwhile.
    if (this.#known !== undefined || !this.#isFile(stored)) return;
    this.#known = stored;
    this.#place.onChange();
  }

  async fetchMissing(send: Fetch, joinMs: number): Promise<void> {
    await this.readStored();
    if (this.#known !== undefined) return;
    const now = performance.now();
    if (this.#fetching === undefined || now - this.#fetching.startedAt >= joinMs)
      this.#fetching = { startedAt: now, ended: this.refresh(send) };
    const { ended } = this.#fetching;
    const wait = withDeadline(TIMEOUT_MS, (deadline) => orAborted(ended, deadline));
    await wait.catch(() => undefined);
  }

  async refresh(send: Fetch): Promise<void> {
    this.failure = undefined;
    const fetched = await withDeadline(TIMEOUT_MS, (deadline) =>
      this.#fetchChanged(send, deadline),
    ).catch((failure: unknown) => void (this.failure = failure));
    if (!this.#isFile(fetched)) return;
    this.#known = fetched;
    this.#place.onChange();
    await this.#place.store.set(this.#url, fetched).catch(() => undefined);
  }

  /** Returns the file as it is now, whatever is in it; undefined if it is the known one. */
  async #fetchChanged(send: Fetch, signal: AbortSignal): Promise<KnownFile<unknown> | undefined> {
    if (this.#known !== undefined) {
      const head = await send(this.#url, { method: "HEAD", signal });
      await head.text();
      if (!head.ok || head.headers.get("etag") === this.#known.etag) return undefined;
    }
    const answer = await send(this.#url, { signal }).catch((cause: unknown) => {
      throw unreachable(this.#url, cause);
    });
    const type = answer.headers.get("content-type")?.split(";", 1)[0] ?? "";
    if (!answer.ok || type !== "application/json")
      throw await refusal(answer, { baseUrl: this.#url, type });
    return { etag: answer.headers.get("etag") ?? "", content: await answer.json() };
  }

  #isFile(file: unknown): file is KnownFile<Content> {
    return (
      typeof file === "object" &&
      file !== null &&
      "etag" in file &&
      typeof file.etag === "string" &&
      "content" in file &&
      this.#isContent(file.content)
    );
  }
}
