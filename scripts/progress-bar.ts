const BAR_LENGTH = 24;

/** Progress of a run on one line of a terminal, or as a line for each stage elsewhere. */
export class ProgressBar {
  readonly #out: NodeJS.WriteStream;
  readonly #began = Date.now();
  #stage = "";
  /** Where the present stage began to count. */
  #start = { done: 0, at: 0 };

  constructor(out: NodeJS.WriteStream) {
    this.#out = out;
  }

  /** Shows `text` of the units that are done, where there are any to count. */
  show(
    stage: string,
    { done, total }: { readonly done: number; readonly total: number },
    text: string,
  ): void {
    const now = Date.now();
    if (stage !== this.#stage) {
      this.#stage = stage;
      this.#start = { done, at: now };
      if (!this.#out.isTTY) this.#out.write(`${stage} …\n`);
    }
    if (!this.#out.isTTY) return;
    const share = total === 0 ? 0 : done / total;
    const filled = Math.round(share * BAR_LENGTH);
    const bar = "█".repeat(filled) + "░".repeat(BAR_LENGTH - filled);
    const count = total === 0 ? "" : ` ${text}${this.#timeLeft(done, total, now)}`;
    this.#out.write(`\r\x1b[2K${bar} ${stage}${count}`);
  }

  end(message: string): void {
    const seconds = ((Date.now() - this.#began) / 1000).toFixed(1);
    this.#out.write(`${this.#out.isTTY ? "\r\x1b[2K" : ""}${message} (${seconds} s)\n`);
  }

  #timeLeft(done: number, total: number, now: number): string {
    const counted = done - this.#start.done;
    if (counted < 1 || done === total) return "";
    const left = ((now - this.#start.at) / counted) * (total - done);
    return `, about ${Math.ceil(left / 1000)} s left`;
  }
}
