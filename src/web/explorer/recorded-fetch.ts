/** An answer without its body. */
export interface Exchange {
  readonly method: string;
  readonly url: string;
  readonly status: number;
  readonly headers: Headers;
}

/** The browser's measurements of an answer; sizes in bytes. */
export interface Transfer {
  /** Headers and body on the wire; 0 from the browser's cache. */
  readonly wireBytes: number;
  /** The compressed body. */
  readonly encodedBytes: number;
  readonly decodedBytes: number;
  /** Time to the first byte. */
  readonly firstByteMs: number;
  /** Time to the last byte. */
  readonly lastByteMs: number;
}

interface RecordedFetch {
  readonly fetch: typeof globalThis.fetch;
  /** The last exchange; undefined if no answer came. */
  exchange(): Exchange | undefined;
  /** Its measurements; undefined if the browser has none. */
  transfer(): Promise<Transfer | undefined>;
}

/** Longest wait for a measurement, which the browser adds shortly after the end of the body. */
const TRANSFER_DEADLINE_MS = 5_000;
const TRANSFER_PAUSE_MS = 15;

/** A fetch that records its exchanges and the browser's measurements. */
export function recordFetch(init: RequestInit): RecordedFetch {
  let exchange: Exchange | undefined;
  let startedAt = 0;
  return {
    async fetch(input, options) {
      performance.clearResourceTimings();
      startedAt = performance.now();
      const response = await fetch(input, { ...options, ...init });
      const { status, headers, url } = response;
      exchange = { method: options?.method ?? "GET", url, status, headers };
      return response;
    },
    exchange: () => exchange,
    async transfer() {
      if (exchange === undefined) return undefined;
      const deadline = performance.now() + TRANSFER_DEADLINE_MS;
      while (performance.now() < deadline) {
        const entry = performance.getEntriesByName(exchange.url, "resource").at(-1);
        if (entry instanceof PerformanceResourceTiming && entry.startTime >= startedAt - 1)
          return transferOf(entry);
        await new Promise((resolve) => setTimeout(resolve, TRANSFER_PAUSE_MS));
      }
      return undefined;
    },
  };
}

function transferOf(entry: PerformanceResourceTiming): Transfer {
  return {
    wireBytes: entry.transferSize,
    encodedBytes: entry.encodedBodySize,
    decodedBytes: entry.decodedBodySize,
    firstByteMs: entry.responseStart - entry.startTime,
    lastByteMs: entry.responseEnd - entry.startTime,
  };
}
