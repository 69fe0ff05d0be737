import { createHash } from "node:crypto";

/** A source of decisions that a seed makes repeatable (mulberry32). */
export class Random {
  #state: number;

  /**
   * Each name has a stream of its own, so that no actor's timing changes another's decisions. Who
   * draws as often as answers make it draw takes one for each decision that is to be repeatable.
   */
  constructor(seed: number, name: string) {
    this.#state = createHash("sha256").update(`${seed}/${name}`).digest().readUInt32LE(0);
  }

  /** At least 0, less than 1. */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    const mixed = Math.imul(this.#state ^ (this.#state >>> 15), this.#state | 1);
    const more = mixed ^ (mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61));
    return ((more ^ (more >>> 14)) >>> 0) / 2 ** 32;
  }

  /** A whole number from `least` to `most`. */
  between(least: number, most: number): number {
    return least + Math.floor(this.next() * (most - least + 1));
  }

  pick<T>(choices: readonly T[]): T {
    const choice = choices[this.between(0, choices.length - 1)];
    if (choice === undefined) throw new Error("there is nothing to choose from");
    return choice;
  }

  chance(share: number): boolean {
    return this.next() < share;
  }
}
