const BAR_LENGTH = 24;
/** How often progress is written where it cannot be written over. */
const LINE_EVERY_MS = 10_000;

/** Units of work that are counted. */
export interface Units {
  /** Such as `locales`. */
  readonly name: string;
  readonly done: number;
  readonly total: number;
}

/** Progress of a run on one line of a terminal; elsewhere a line for each stage, and now and then. */
export class ProgressBar {
  readonly #out: Pick<NodeJS.WriteStream, "write" | "isTTY">;
  readonly #now: () => number;
  readonly #began: number;
  #stage = "";
  /** When a line was last written. */
  #lineAt = 0;

  constructor(out: Pick<NodeJS.WriteStream, "write" | "isTTY">, now: () => number = Date.now) {
    this.#out = out;
    this.#now = now;
    this.#began = now();
  }

  /**
   * @param units what the stage works through at present, where that can be counted.
   * @param share how much of all there is to do is done, 0 to 1: that of the units by default.
   */
  show(
    stage: string,
    units?: Units,
    share = units === undefined ? 0 : units.done / units.total,
  ): void {
    const now = this.#now();
    const count = units && `${units.name} ${units.done} of ${units.total}`;
    if (this.#out.isTTY) {
      const filled = Math.round(share * BAR_LENGTH);
      const bar = "█".repeat(filled) + "░".repeat(BAR_LENGTH - filled);
      this.#out.write(`\r\x1b[2K${bar} ${[stage, count].filter(Boolean).join(", ")}`);
    } else if (stage !== this.#stage) this.#writeLine(`${stage} …`, now);
    else if (count !== undefined && now - this.#lineAt >= LINE_EVERY_MS)
      this.#writeLine(`${stage}: ${count}`, now);
    this.#stage = stage;
  }

  end(message: string): void {
    const seconds = ((this.#now() - this.#began) / 1000).toFixed(1);
    this.#out.write(`${this.#out.isTTY ? "\r\x1b[2K" : ""}${message} (${seconds} s)\n`);
  }

  #writeLine(line: string, now: number): void {
    this.#out.write(`${line}\n`);
    this.#lineAt = now;
  }
}
