import { readKana } from "../../client/src/search/kana.ts";
import { foldQuery, LENGTH_MAX } from "../../client/src/search/search-words.ts";
import type { Suggestion } from "../../client/src/suggestion.ts";
import { negotiateLocale } from "../catalog/locale.ts";
import { orStoreError } from "../platform/deadline.ts";
import { type LocalNames, namesPath, Places, PLACES_PATH } from "./places.ts";
import { type Hit, HITS_MAX, hitsIn, shardOf, shardPath } from "./shard.ts";

/** Of the files in memory: the places, and those of the letters and languages that were used last. */
export const FILES_MAX_BYTES = 450_000;
const DEFAULT_LOCALE = "en";
const FILE_DEADLINE_MS = 3_000;

export interface Wanted {
  readonly typed: string;
  /** Canonical BCP 47 tag. */
  readonly locale: string;
  readonly limit: number;
}

export interface Suggestions {
  /** Of the names of countries and cities. */
  readonly locale: string;
  readonly suggestions: readonly Suggestion[];
}

export type Suggest = (wanted: Wanted) => Promise<Suggestions>;

/** Suggests what is called as a text begins, as the package's search does. Rejects if a file cannot be read. */
export class Suggester {
  readonly #readAsset: (path: string) => Promise<ArrayBuffer>;
  /** What was used last comes last. */
  readonly #files = new Map<string, ArrayBuffer>();
  #places: Places | undefined;

  constructor(readAsset: (path: string) => Promise<ArrayBuffer>) {
    this.#readAsset = readAsset;
  }

  async suggest({ typed: text, locale: tag, limit }: Wanted): Promise<Suggestions> {
    const typed = text.slice(0, LENGTH_MAX);
    const file = await this.#file(PLACES_PATH);
    const places = (this.#places ??= new Places(file));
    const locale = localeIn(places.locales, tag);
    const names: LocalNames = JSON.parse(
      new TextDecoder().decode(await this.#file(namesPath(locale))),
    );
    const hits = places.withAirports(await this.#hits(places, typed));
    const listed = hits.slice(0, Math.min(limit, HITS_MAX));
    return { locale, suggestions: listed.map((hit) => places.suggestion(hit, typed, names)) };
  }

  async #hits(places: Places, typed: string): Promise<Hit[]> {
    const hits = await this.#hitsOf(places, foldQuery(typed));
    if (hits.length > 0) return hits;
    for (const read of readKana(typed)) {
      const ofRead = await this.#hitsOf(places, read);
      if (ofRead.length > 0) return ofRead;
    }
    return [];
  }

  async #hitsOf(places: Places, text: string): Promise<Hit[]> {
    const shard = shardOf(text);
    return places.hasShard(shard) ? hitsIn(await this.#file(shardPath(shard)), text) : [];
  }

  async #read(path: string): Promise<ArrayBuffer> {
    return orStoreError(path, FILE_DEADLINE_MS, this.#readAsset(path));
  }

  /** Shares only what has come: the promise of another request may never settle. */
  async #file(path: string): Promise<ArrayBuffer> {
    const file = this.#files.get(path) ?? (await this.#read(path));
    this.#files.delete(path);
    this.#files.set(path, file);
    let bytes = 0;
    for (const [other, { byteLength }] of [...this.#files].toReversed()) {
      bytes += byteLength;
      if (bytes > FILES_MAX_BYTES) this.#files.delete(other);
    }
    return file;
  }
}

/** Finds the locale of a tag, in two milliseconds the first time where it is not quite that. */
function localeIn(locales: Places["locales"], tag: string): string {
  if (Object.hasOwn(locales, tag)) return tag;
  return negotiateLocale(tag, locales, DEFAULT_LOCALE).locale;
}
