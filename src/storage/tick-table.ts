import { JsonTable, type TableStorage } from "./json-table.ts";

/** Number of remembered ticks of each cron trigger, so that a repeated tick counts once. */
const TICKS_KEPT = 100;
/** A tick may come a little before its time. */
const SLACK_MS = 60_000;

/** The cron ticks that a Durable Object has taken, in milliseconds since 1970. */
export class TickTable {
  readonly #table: JsonTable<{ readonly [cron: string]: readonly number[] }>;

  constructor(storage: TableStorage) {
    this.#table = new JsonTable(storage, "ticks");
  }

  /** @param at scheduled time of the tick. */
  has(cron: string, at: number): boolean {
    return (this.#table.get(cron) ?? []).includes(at);
  }

  /** Remembers a tick, and returns whether it is new. */
  add(cron: string, at: number): boolean {
    const known = this.#table.get(cron) ?? [];
    if (known.includes(at)) return false;
    const newestFirst = [at, ...known].toSorted((a, b) => b - a);
    this.#table.set(cron, newestFirst.slice(0, TICKS_KEPT));
    return true;
  }

  /** Returns the scheduled time of the newest tick of each cron trigger that is not in the future. */
  newest(now: number): { readonly [cron: string]: number } {
    return Object.fromEntries(
      this.#table.entries().flatMap(([cron, ticks]) => {
        const newest = ticks.find((at) => at <= now + SLACK_MS);
        return newest === undefined ? [] : [[cron, newest]];
      }),
    );
  }
}
