import type { Source } from "./refresh.ts";
import { isRanksFile, type RanksFile } from "./search/ranks.ts";
import { isOtherNames, type OtherNames } from "./search/search-index.ts";
import type { Store } from "./store.ts";

/** A file that takes longer is given up. */
const TIMEOUT_MS = 20_000;

interface KnownFile<Content> {
  readonly etag: string;
  readonly content: Content;
}

/** What the search knows of places beyond the catalog. Undefined where the service has none, or no answer. */
export interface SearchKnowledge {
  readonly ranks: RanksFile | undefined;
  readonly names: OtherNames | undefined;
}

/** The files of `/search/v1`. None of them is needed: what fails, here, is missing. */
export class SearchFiles {
  readonly #ranks: SearchFile<RanksFile>;
  readonly #names: SearchFile<OtherNames>;
  #fetched: Promise<unknown> | undefined;

  constructor(source: Source, store: Store) {
    this.#ranks = new SearchFile("ranks.json", isRanksFile, { source, store });
    this.#names = new SearchFile("names.json", isOtherNames, { source, store });
  }

  /** What is there. */
  get known(): SearchKnowledge {
    return { ranks: this.#ranks.content, names: this.#names.content };
  }

  /** Reads what is stored. */
  async readStored(): Promise<void> {
    await Promise.all([this.#ranks.readStored(), this.#names.readStored()]);
  }

  /** Reads what is stored, and fetches what is missing: once, so that nobody waits twice for it. */
  async fetchMissing(): Promise<void> {
    await this.readStored();
    this.#fetched ??= Promise.all([this.#ranks.fetchMissing(), this.#names.fetchMissing()]);
    await this.#fetched;
  }

  /** Fetches what is missing or has changed. */
  async refresh(): Promise<void> {
    await Promise.all([this.#ranks.refresh(), this.#names.refresh()]);
  }
}

class SearchFile<Content> {
  readonly #url: string;
  readonly #isContent: (content: unknown) => content is Content;
  readonly #source: Source;
  readonly #store: Store;
  #known: KnownFile<Content> | undefined;

  constructor(
    name: string,
    isContent: (content: unknown) => content is Content,
    { source, store }: { readonly source: Source; readonly store: Store },
  ) {
    this.#url = `${source.baseUrl}/search/v1/${name}`;
    this.#isContent = isContent;
    this.#source = source;
    this.#store = store;
  }

  get content(): Content | undefined {
    return this.#known?.content;
  }

  async readStored(): Promise<void> {
    if (this.#known !== undefined) return;
    const stored = await this.#store.get(this.#url).catch(() => undefined);
    // Another one may have been fetched meanwhile.
    if (this.#isFile(stored)) this.#known ??= stored;
  }

  async fetchMissing(): Promise<void> {
    if (this.#known === undefined) await this.refresh();
  }

  async refresh(): Promise<void> {
    const fetched = await this.#fetchChanged().catch(() => undefined);
    if (!this.#isFile(fetched)) return;
    this.#known = fetched;
    await this.#store.set(this.#url, fetched).catch(() => undefined);
  }

  /** Returns the file as it is now, whatever is in it; undefined if it is the known one. */
  async #fetchChanged(): Promise<KnownFile<unknown> | undefined> {
    const request = this.#source.fetch ?? fetch;
    const signal = AbortSignal.timeout(TIMEOUT_MS);
    if (this.#known !== undefined) {
      const head = await request(this.#url, { method: "HEAD", signal });
      await head.text();
      if (!head.ok || head.headers.get("etag") === this.#known.etag) return undefined;
    }
    const answer = await request(this.#url, { signal });
    if (!answer.ok) return undefined;
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
