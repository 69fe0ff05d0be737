/** The words of many entries, found by their beginnings. */
export class WordList {
  /** In code-unit order. */
  readonly words: readonly string[];
  /** The entries that have each word. Not private: proxies, such as Vue's, refuse that. */
  readonly entries: readonly (readonly number[])[];
  /** How many letters each word has in common with the one before it. */
  readonly shared: Uint8Array;
  /** As `lettersOf` has them. */
  readonly letters: Int32Array;

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
    this.words = [...entriesOf.keys()].toSorted();
    this.entries = this.words.map((word) => entriesOf.get(word) ?? []);
    this.shared = new Uint8Array(this.words.length);
    this.letters = new Int32Array(this.words.length);
    for (const [at, word] of this.words.entries()) {
      this.shared[at] = inCommon(word, this.words[at - 1] ?? "");
      this.letters[at] = lettersOf(word);
    }
  }

  /** The entries that have this very word. */
  entriesWith(word: string): readonly number[] {
    const at = this.find(word);
    return this.words[at] === word ? (this.entries[at] ?? []) : [];
  }

  /** Whether a word begins like this. */
  hasBeginning(text: string): boolean {
    return this.words[this.find(text)]?.startsWith(text) ?? false;
  }

  /** The entries of each word that begins like this. */
  *entriesBeginning(text: string): Generator<readonly number[]> {
    for (let at = this.find(text); at < this.words.length; at++) {
      if (!this.words[at]?.startsWith(text)) return;
      yield this.entries[at] ?? [];
    }
  }

  /** Finds the first word that is not before a text. */
  find(text: string): number {
    let [low, high] = [0, this.words.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.words[middle] ?? "") < text) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

/** The letters of a word, a bit for each; some letters share one. */
export function lettersOf(word: string): number {
  let letters = 0;
  for (let at = 0; at < word.length; at++) letters |= 1 << (word.charCodeAt(at) % 32);
  return letters;
}

/** Counts the bits that are set. */
export function bitsIn(bits: number): number {
  let count = 0;
  for (let rest = bits; rest !== 0; rest &= rest - 1) count++;
  return count;
}

function inCommon(a: string, b: string): number {
  let length = 0;
  while (length < a.length && a.charCodeAt(length) === b.charCodeAt(length)) length++;
  return length;
}
