/** The words of many entries, found by their beginnings. */
export class WordList {
  /** In code-unit order. */
  readonly #words: readonly string[];
  readonly #entriesOf: ReadonlyMap<string, readonly number[]>;

  /** @param textsOf folded texts of each entry, whose words are separated by single spaces. */
  constructor(textsOf: readonly (readonly string[])[]) {
    const entriesOf = new Map<string, number[]>();
    for (const [entry, texts] of textsOf.entries())
      for (const text of texts)
        for (const word of text.split(" ")) {
          const entries = entriesOf.get(word);
          if (entries === undefined) entriesOf.set(word, [entry]);
          else if (entries.at(-1) !== entry) entries.push(entry);
        }
    this.#entriesOf = entriesOf;
    this.#words = [...entriesOf.keys()].sort();
  }

  get words(): readonly string[] {
    return this.#words;
  }

  /** The entries that have this very word. */
  entriesWith(word: string): readonly number[] {
    return this.#entriesOf.get(word) ?? [];
  }

  /** The words that begin like this, in order. */
  *startingWith(beginning: string): Generator<string> {
    for (let at = this.#find(beginning); ; at++) {
      const word = this.#words[at];
      if (!word?.startsWith(beginning)) return;
      yield word;
    }
  }

  /** Finds the first word that is not before a text. */
  #find(text: string): number {
    let [low, high] = [0, this.#words.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#words[middle] ?? "") < text) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
