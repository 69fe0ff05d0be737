/** What the service answered, besides the body. */
export interface Exchange {
  readonly method: string;
  readonly url: string;
  readonly status: number;
  readonly headers: Headers;
}

/** What the browser measured of an answer; sizes in bytes. */
export interface Transfer {
  /** Headers and body as they came over the wire; 0 from the browser's cache. */
  readonly wireBytes: number;
  /** The body as it was sent: compressed. */
  readonly encodedBytes: number;
  readonly decodedBytes: number;
  /** From the start of the request to the first byte of the answer. */
  readonly firstByteMs: number;
  /** From the start of the request to the last byte of the answer. */
  readonly lastByteMs: number;
}

export interface RecordedFetch {
  readonly fetch: typeof globalThis.fetch;
  /** The last exchange; undefined when no answer came. */
  exchange(): Exchange | undefined;
  /** What was measured of it; undefined where the browser tells nothing. */
  transfer(): Promise<Transfer | undefined>;
}

/** The browser notes a measurement a little after the body has been read; how long that may take. */
const TRANSFER_DEADLINE_MS = 5_000;
const TRANSFER_PAUSE_MS = 15;

/** A fetch that remembers what was exchanged, and what the browser measured of it. */
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
