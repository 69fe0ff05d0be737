const NEWLINE = 10;
/** The start of each of so many lines may be known. */
export const LINES_STEP = 16;

/** Lines of UTF-8, which end in a newline each and are read where they lie. */
export class Lines {
  readonly #bytes: Uint8Array;
  readonly #starts: readonly number[];

  /** @param starts of the first line and of every sixteenth, as far as they are known. */
  constructor(bytes: Uint8Array, starts: readonly number[] = [0]) {
    this.#bytes = bytes;
    this.#starts = starts;
  }

  at(line: number): string {
    const known = Math.min(Math.floor(line / LINES_STEP), this.#starts.length - 1);
    let start = this.#starts[known] ?? 0;
    for (let left = line - known * LINES_STEP; left > 0; left--) start = this.#endOf(start) + 1;
    return new TextDecoder().decode(this.#bytes.subarray(start, this.#endOf(start)));
  }

  #endOf(start: number): number {
    return this.#bytes.indexOf(NEWLINE, start);
  }
}
