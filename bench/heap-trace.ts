/** Most that an isolate may hold: the limit of Cloudflare Workers (MB). */
export const ISOLATE_MB = 128;
/** How much of it is the heap's while it is traced: the rest is for the buffers outside of it. */
export const HEAP_MB = 92;

/**
 * Flags that have V8 collect garbage all the time, in a limited heap, and tell how much memory an
 * isolate has whenever it does.
 */
export const TRACED = `--trace-gc --trace-gc-verbose --gc-global --max-semi-space-size=2 --max-old-space-size=${HEAP_MB}`;

const KIB_IN_MIB = 1024;
/** What a collection has begun with: the objects (MiB) of the heap. */
const COLLECTION =
  /^\[\d+:(0x[0-9a-f]+)(?::\d+)?\].* ms: (?:Mark-Compact|Scavenge)[^\d]* ([\d.]+) \(/;
/** What is said after it, in this order. */
const AFTER =
  /^\[\d+:(0x[0-9a-f]+)\]\s+(All spaces,\s+used|External memory reported|Backing store memory):\s+(\d+) KB/;

/** What V8 said of an isolate (KiB). */
interface Said {
  /** Before the collection or after it, whichever is more. */
  heap: number;
  external: number;
  /** Heap and external memory together, at the last collection. */
  total: number;
  /** Most of that since it was taken. */
  peak: number;
  largestHeap: number;
}

/**
 * Memory of the isolate with the largest heap in a workerd that runs with V8's flags `TRACED`, as it
 * was when garbage was collected, and when it was looked at in between: objects, garbage included,
 * and what stands behind buffers and streams. Buffers that have become garbage count until V8 has
 * swept them, which is later.
 */
export class HeapTrace {
  readonly #isolates = new Map<string, Said>();
  /** Most (MiB) that was seen between collections since it was taken. */
  #seen = 0;

  /** Takes a line of workerd's output. */
  hear(line: string): void {
    const [, collected, mib] = COLLECTION.exec(line) ?? [];
    if (collected !== undefined) this.#of(collected).heap = Number(mib) * KIB_IN_MIB;
    const [, isolate, what = "", number] = AFTER.exec(line) ?? [];
    if (isolate === undefined) return;
    const said = this.#of(isolate);
    const kib = Number(number);
    if (what.startsWith("All")) {
      said.heap = Math.max(said.heap, kib);
      said.largestHeap = Math.max(said.largestHeap, kib);
    } else if (what.startsWith("External")) said.external = kib;
    else {
      said.total = said.heap + Math.max(said.external, kib);
      said.peak = Math.max(said.peak, said.total);
      said.heap = 0;
    }
  }

  /** Takes what that isolate has (MiB) when it is looked at. */
  see(mb: number): void {
    this.#seen = Math.max(this.#seen, mb);
  }

  /**
   * Most memory (MiB) since this was called last; what it was at the last collection if there was
   * none since.
   */
  takePeakMb(): number {
    const all = [...this.#isolates.values()];
    const [largest] = all.toSorted((a, b) => b.largestHeap - a.largestHeap);
    const peakMb = Math.max((largest?.peak ?? 0) / KIB_IN_MIB, this.#seen);
    for (const said of all) said.peak = said.total;
    this.#seen = 0;
    return peakMb;
  }

  #of(isolate: string): Said {
    const known = this.#isolates.get(isolate);
    const said = known ?? { heap: 0, external: 0, total: 0, peak: 0, largestHeap: 0 };
    this.#isolates.set(isolate, said);
    return said;
  }
}
