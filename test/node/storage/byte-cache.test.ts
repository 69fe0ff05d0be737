import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ByteCache } from "../../../src/storage/body-loader.ts";

/** What the cache should hold: keys with lengths, least recently used first. */
class Model {
  entries: { readonly key: string; readonly length: number; readonly isSpare: boolean }[] = [];
  readonly #maxBytes: number;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  get bytes(): number {
    return this.entries.reduce((sum, { length }) => sum + length, 0);
  }

  get(key: string): number | undefined {
    const entry = this.entries.find((one) => one.key === key);
    if (entry !== undefined) this.entries = [...this.#without(key), entry];
    return entry?.length;
  }

  set(key: string, length: number, isSpare: boolean): void {
    this.entries = this.#without(key);
    if (length > this.#maxBytes) return;
    this.entries.push({ key, length, isSpare });
    while (this.bytes > this.#maxBytes) {
      const spare = this.entries.findIndex((entry) => entry.isSpare);
      this.entries.splice(Math.max(0, spare), 1);
    }
  }

  #without(key: string) {
    return this.entries.filter((one) => one.key !== key);
  }
}

function bytesOf(length: number): Blob {
  return new Blob([new Uint8Array(length)]);
}

describe("ByteCache", () => {
  it("never holds more bytes than its limit, and always the most recently used entries, spare ones last", () => {
    const anyKey = fc.constantFrom("a", "b", "c", "d", "e");
    const anyCall = fc.record({
      key: anyKey,
      length: fc.option(fc.integer({ min: 0, max: 12 })),
      isSpare: fc.boolean(),
    });
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 20 }), fc.array(anyCall), (maxBytes, calls) => {
        const cache = new ByteCache(maxBytes);
        const model = new Model(maxBytes);
        for (const { key, length, isSpare } of calls) {
          if (length !== null) {
            cache.set(key, bytesOf(length), { isSpare });
            model.set(key, length, isSpare);
          }
          expect(cache.get(key)?.size).toBe(model.get(key));
          expect(cache.bytes).toBe(model.bytes);
          expect(cache.bytes).toBeLessThanOrEqual(maxBytes);
        }
        for (const key of ["a", "b", "c", "d", "e"])
          expect(cache.get(key)?.size).toBe(model.get(key));
      }),
    );
  });
});
