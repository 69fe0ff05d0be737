/** Flags that have V8 tell how much memory an isolate has whenever it collects garbage. */
export const TRACED = "--trace-gc --trace-gc-verbose";
/**
 * The same, and garbage is collected all the time, in a heap that is limited to what the buffers
 * outside of it leave of an isolate's 128 MB.
 */
export const TRACED_TIGHT = `${TRACED} --gc-global --max-semi-space-size=1 --max-old-space-size=92`;

const KIB_IN_MIB = 1024;
/** The lines that are looked at, in their order; the last one ends what is said of a collection. */
const LINE =
  /^\[\d+:(0x[0-9a-f]+)\]\s+(All spaces,\s+used|External memory reported|Backing store memory):\s+(\d+) KB/;

/** What V8 said of an isolate (KiB). */
interface Said {
  heap: number;
  external: number;
  /** Heap and external memory together, at the last collection. */
  total: number;
  /** Most of that since it was taken. */
  peak: number;
  largestHeap: number;
}

/**
 * Memory of the isolate with the largest heap in a workerd that runs with `TRACED`: objects, and
 * what stands behind buffers and streams. Buffers of which V8 knows that they are garbage still
 * count until it has swept them.
 */
export class HeapTrace {
  readonly #isolates = new Map<string, Said>();

  /** Takes a line of workerd's output. */
  hear(line: string): void {
    const [, isolate = "", what = "", number] = LINE.exec(line) ?? [];
    if (what === "") return;
    const said = this.#isolates.get(isolate) ?? NOTHING_SAID();
    this.#isolates.set(isolate, said);
    const kib = Number(number);
    if (what.startsWith("All")) {
      said.heap = kib;
      said.largestHeap = Math.max(said.largestHeap, kib);
    } else if (what.startsWith("External")) said.external = kib;
    else {
      said.total = said.heap + Math.max(said.external, kib);
      said.peak = Math.max(said.peak, said.total);
    }
  }

  /** Most memory (MiB) since this was called last. */
  takePeakMb(): number {
    const all = [...this.#isolates.values()];
    const [largest] = all.toSorted((a, b) => b.largestHeap - a.largestHeap);
    const peak = largest?.peak ?? 0;
    for (const said of all) said.peak = said.total;
    return peak / KIB_IN_MIB;
  }
}

const NOTHING_SAID = (): Said => ({ heap: 0, external: 0, total: 0, peak: 0, largestHeap: 0 });
