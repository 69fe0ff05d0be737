import { type CatalogCopy, refresh, type Source } from "../client/src/refresh.ts";

/** Keeps a catalog in each language that it was asked for, as the package does, in Node or in a page. */
export class Visitor {
  readonly #source: Source;
  readonly #copies = new Map<string, CatalogCopy>();

  constructor(source: Source) {
    this.#source = source;
  }

  /** Returns the SHA-256 of the current catalog in a language. */
  async visit(locale: string): Promise<string> {
    const source = { ...this.#source, locale };
    const known = this.#copies.get(locale) ?? [...this.#copies.values()].at(-1);
    const copy = await refresh(source, known);
    this.#copies.delete(locale); // the last one is the newest
    this.#copies.set(locale, copy);
    return copy.sha256;
  }
}
