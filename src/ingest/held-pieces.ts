import type { Blob } from "./bodies.ts";

/** Holds today's world with room to spare; of a larger one the rest is read again for each locale. */
export const HELD_MAX_BYTES = 16 * 1024 * 1024;

/**
 * Pieces of common segments in memory, to save time. Nothing makes way for what does not fit any
 * more: every locale reads all of them in the same order, so that the one held longest is the one
 * that is wanted next.
 */
export class HeldPieces {
  readonly #bytes = new Map<string, Uint8Array>();
  #total = 0;

  get(sha256: string): Uint8Array | undefined {
    return this.#bytes.get(sha256);
  }

  hold({ sha256, bytes }: Blob): void {
    if (this.#bytes.has(sha256) || this.#total + bytes.length > HELD_MAX_BYTES) return;
    this.#bytes.set(sha256, bytes);
    this.#total += bytes.length;
  }

  clear(): void {
    this.#bytes.clear();
    this.#total = 0;
  }
}
