import type { Source } from "./refresh.ts";
import type { RanksFile } from "./search/ranks.ts";
import type { OtherNames } from "./search/search-index.ts";
import type { Store } from "./store.ts";

interface StoredFile {
  readonly etag: string;
  readonly content: unknown;
}

/** The files of `/search/v1`: what the search knows of places beyond the catalog. */
export class SearchFiles {
  readonly #source: Source;
  readonly #store: Store;
  readonly #files = new Map<string, Promise<StoredFile | undefined>>();

  constructor(source: Source, store: Store) {
    this.#source = source;
    this.#store = store;
  }

  /** Reads what is stored, or else fetches it. Undefined where the service has none, or no answer. */
  async read(): Promise<{ ranks: RanksFile | undefined; names: OtherNames | undefined }> {
    const [ranks, names] = await Promise.all([this.#file("ranks.json"), this.#file("names.json")]);
    return {
      ranks: ranks?.content as RanksFile | undefined, // within v1, a file only gains keys
      names: names?.content as OtherNames | undefined,
    };
  }

  /** Fetches what has changed. */
  async refresh(): Promise<void> {
    await Promise.all([...this.#files.keys()].map((url) => this.#refreshFile(url)));
  }

  async #file(name: string): Promise<StoredFile | undefined> {
    const url = `${this.#source.baseUrl}/search/v1/${name}`;
    const known = this.#files.get(url);
    if (known !== undefined && (await known) !== undefined) return known;
    const file = this.#readStored(url).then((stored) => stored ?? this.#download(url));
    this.#files.set(url, file);
    return file;
  }

  async #refreshFile(url: string): Promise<void> {
    const known = await this.#files.get(url);
    const head = await this.#fetch(url, { method: "HEAD" });
    await head?.text();
    if (head?.ok !== true || head.headers.get("etag") === known?.etag) return;
    const file = await this.#download(url);
    if (file !== undefined) this.#files.set(url, Promise.resolve(file));
  }

  async #download(url: string): Promise<StoredFile | undefined> {
    const answer = await this.#fetch(url);
    if (answer?.ok !== true) return undefined;
    const file = { etag: answer.headers.get("etag") ?? "", content: await answer.json() };
    await this.#store.set(url, file).catch(() => undefined);
    return file;
  }

  async #readStored(url: string): Promise<StoredFile | undefined> {
    const stored = await this.#store.get(url).catch(() => undefined);
    return stored as StoredFile | undefined; // as `#download` stored it
  }

  async #fetch(url: string, init?: RequestInit): Promise<Response | undefined> {
    return (this.#source.fetch ?? fetch)(url, init).catch(() => undefined);
  }
}
