import { type CatalogCopy, refresh, type Source, translate } from "../client/src/refresh.ts";

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
    const own = this.#copies.get(locale);
    const other = [...this.#copies.values()].at(-1);
    const isFromOther = own === undefined && other !== undefined;
    const copy = await (isFromOther ? translate(source, other) : refresh(source, own));
    this.#copies.delete(locale); // the last one is the newest
    this.#copies.set(locale, copy);
    return copy.sha256;
  }
}
