import { CachedCatalogReader } from "../../src/storage/cached-catalog-reader.ts";
import type { ReaderDependencies } from "../../src/storage/catalog-reader.ts";
import { memoryCatalogStore } from "./memory-catalog-store.ts";

/** A store in memory, a clock to set, and what a reader reports and leaves to run on. */
export class ReaderWorld {
  readonly store = memoryCatalogStore();
  readonly reports: string[] = [];
  readonly deps: ReaderDependencies;
  readonly reader: CachedCatalogReader;
  /** Milliseconds since 1970. */
  time = Date.parse("2026-11-01T05:00:00.000Z");
  readonly #behind: Promise<unknown>[] = [];

  constructor({ cacheMaxBytes = 10_000 }: { readonly cacheMaxBytes?: number } = {}) {
    this.deps = {
      store: this.store,
      now: () => this.time,
      waitUntil: (promise) => void this.#behind.push(promise),
      report: (event) => void this.reports.push(event),
      createPipe: () => new TransformStream(),
      manifestFreshMs: 30_000,
      cacheMaxBytes,
    };
    this.reader = new CachedCatalogReader(this.deps);
  }

  /** Waits for what runs on behind the answers; rejects if any of it does. */
  async settle(): Promise<void> {
    while (this.#behind.length > 0) await Promise.all(this.#behind.splice(0));
  }

  /** Makes every call with one of these prefixes fail. */
  breakCalls(...prefixes: readonly string[]): void {
    this.store.before = (call) => {
      if (prefixes.some((prefix) => call.startsWith(prefix))) throw new Error("down");
    };
  }

  /** Makes every call work again. */
  repair(): void {
    this.store.before = () => {};
  }
}
