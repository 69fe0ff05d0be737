import { nextTask } from "../../client/src/catalog.ts";
import { untilIdle } from "./idle.ts";
import { regionsFinder } from "./regions-finder.ts";

/** A request as a client wants it sent. */
export interface WireRequest {
  readonly url: string;
  readonly method: string;
  readonly headers: [string, string][];
  readonly body: BodyInit | null;
}

/** Its answer. */
export interface WireAnswer {
  readonly status: number;
  readonly headers: [string, string][];
  readonly body: ArrayBuffer;
}

/** Sends a client's request. */
export type Send = (request: WireRequest) => Promise<WireAnswer>;

/** An answer without its body. */
export interface Exchange {
  readonly method: string;
  readonly url: string;
  readonly status: number;
  readonly headers: Headers;
  /** Whether there was no connection, and the answer is the last one that this device has seen. */
  readonly isStored: boolean;
  /** `performance.now()` when the request was sent. */
  readonly startedAt: number;
}

/** The browser's measurements of an answer; sizes in bytes. */
export interface Transfer {
  /** Headers and body on the wire; 0 from the browser's cache. */
  readonly wireBytes: number;
  /** The compressed body. */
  readonly encodedBytes: number;
  readonly decodedBytes: number;
  /** Time to the last byte. */
  readonly lastByteMs: number;
}

/** The progress of an answer. */
export interface Progress {
  readonly bytes: number;
  /**
   * 0 to 1, until the end by the usual effect of the compression; null while an answer arrives that
   * does not tell its length.
   */
  readonly share: number | null;
}

export interface SendOptions {
  readonly signal: AbortSignal;
  /** The requested locale. */
  readonly locale: string;
  /** Bypasses a fresh answer in the browser's cache. */
  readonly revalidate: boolean;
  readonly onProgress: (progress: Progress) => void;
  /** Called with all lists but the regions, if they have arrived and the rest is slow to come. */
  readonly onBeginning: (beginning: WireAnswer) => void;
}

declare global {
  interface Window {
    /** The request that `early-call.js` has sent before this script was loaded. */
    earlyCall?: { readonly url: string; readonly answer: Promise<Response> } | undefined;
  }
}

/** The cache of this device for answers, so many at most. */
const STORED_ANSWERS = "answers";
const STORED_ANSWERS_MAX = 4;
/** Ratio of the length of an answer to its length on the wire, by the content coding. */
const USUAL_RATIOS: { readonly [coding: string]: number } = { br: 2.9, gzip: 2.4 };
/** Longest wait for a measurement, which the browser adds shortly after the end of the body. */
const TRANSFER_DEADLINE_MS = 5_000;
const TRANSFER_PAUSE_MS = 15;
/** Shows progress so often. Showing every chunk would take longer than reading it. */
const PROGRESS_MS = 100;
/** A faster answer is shown only as a whole, because showing its start as well takes longer. */
const SLOW_ANSWER_MS = 1_500;

/** Sends a request, or takes the answer of the same one that was sent early. */
export async function sendRequest(
  request: WireRequest,
  { signal, locale, revalidate, onProgress, onBeginning }: SendOptions,
): Promise<{ readonly exchange: Exchange; readonly answer: WireAnswer }> {
  const { url, method, headers } = request;
  const early = window.earlyCall?.url === url && !revalidate ? window.earlyCall : undefined;
  window.earlyCall = undefined;
  if (!early) performance.clearResourceTimings();
  const startedAt = early ? 0 : performance.now();
  const cache = revalidate ? "no-cache" : "default";
  const sent = early?.answer ?? fetch(url, { method, headers, body: request.body, signal, cache });
  const { response, isStored } = await sent.then(
    (received) => ({ response: received, isStored: false }),
    async (cause: unknown) => {
      const last = signal.aborted || method !== "GET" ? undefined : await storedAnswer(url, locale);
      if (last === undefined) throw cause;
      return { response: last, isStored: true };
    },
  );
  const exchange = {
    method,
    url,
    status: response.status,
    headers: response.headers,
    isStored,
    startedAt,
  };
  const head = { status: response.status, headers: [...response.headers] };
  const onSharedPart = (join: () => ArrayBuffer) => {
    if (performance.now() - startedAt > SLOW_ANSWER_MS) onBeginning({ ...head, body: join() });
  };
  const body = await readBody(response, {
    onProgress,
    ...(response.ok && isBareProtobuf(response) && { onSharedPart }),
  });
  const answer = { ...head, body };
  if (method === "GET" && response.ok && !isStored)
    // Without room for it, the page does not work without a connection.
    void untilIdle()
      .then(() => storeAnswer(url, answer))
      .catch((cause: unknown) => console.warn(cause));
  return { exchange, answer };
}

/**
 * Returns the answer to the same request, else the newest in the requested locale: people who have
 * seen English as `en-US` may choose it as `en`. `caches` is missing on an origin that is not secure.
 */
async function storedAnswer(url: string, locale: string): Promise<Response | undefined> {
  if (!("caches" in window)) return undefined;
  const answers = await caches.open(STORED_ANSWERS);
  const same = await answers.match(url, { ignoreVary: true });
  if (same !== undefined) return same;
  for (const request of (await answers.keys()).toReversed()) {
    if (encodingOf(request.url) !== encodingOf(url)) continue;
    const answer = await answers.match(request, { ignoreVary: true });
    if (answer?.headers.get("content-language") === locale) return answer;
  }
  return undefined;
}

function encodingOf(url: string): string | null {
  return new URL(url, window.location.origin).searchParams.get("encoding");
}

async function storeAnswer(url: string, { body, headers }: WireAnswer): Promise<void> {
  if (!("caches" in window)) return;
  const answers = await caches.open(STORED_ANSWERS);
  await answers.delete(url, { ignoreVary: true });
  await answers.put(url, new Response(body, { headers }));
  const oldest = (await answers.keys()).slice(0, -STORED_ANSWERS_MAX);
  await Promise.all(oldest.map((request) => answers.delete(request, { ignoreVary: true })));
}

/** Whether the body is the message alone, without envelopes. */
function isBareProtobuf({ headers }: Response): boolean {
  return headers.get("content-type") === "application/proto";
}

interface Readers extends Pick<SendOptions, "onProgress"> {
  /** Called once with what returns what is before the regions. */
  readonly onSharedPart?: (join: () => ArrayBuffer) => void;
}

async function readBody(
  response: Response,
  { onProgress, onSharedPart }: Readers,
): Promise<ArrayBuffer> {
  const coding = response.headers.get("content-encoding") ?? "";
  const length = Number(response.headers.get("content-length") ?? 0) * (USUAL_RATIOS[coding] ?? 1);
  const chunks: Uint8Array<ArrayBuffer>[] = [];
  let bytes = 0;
  let shownAt = 0;
  let findRegions = onSharedPart && regionsFinder();
  const reader = response.body?.getReader();
  for (let read = await reader?.read(); read?.value; read = await reader?.read()) {
    chunks.push(read.value);
    bytes += read.value.length;
    const regionsAt = findRegions?.(read.value);
    if (regionsAt !== undefined) {
      findRegions = undefined;
      onSharedPart?.(() => joinChunks(chunks, regionsAt));
    }
    if (performance.now() - shownAt < PROGRESS_MS) continue;
    shownAt = performance.now();
    onProgress({ bytes, share: length > 0 ? Math.min(1, bytes / length) : null });
  }
  // What came at once has been read in one task.
  await nextTask();
  onProgress({ bytes, share: 1 });
  return joinChunks(chunks, bytes);
}

/** Joins so many bytes. Not by a `Blob`, for which the browser copies them through another process. */
function joinChunks(chunks: readonly Uint8Array[], length: number): ArrayBuffer {
  const joined = new Uint8Array(length);
  let at = 0;
  for (const chunk of chunks) {
    joined.set(chunk.subarray(0, length - at), at);
    at += Math.min(chunk.length, length - at);
  }
  return joined.buffer;
}

/** Returns the browser's measurements of an exchange; undefined if it has none. */
export async function measureTransfer({ url, startedAt }: Exchange): Promise<Transfer | undefined> {
  const deadline = performance.now() + TRANSFER_DEADLINE_MS;
  while (performance.now() < deadline) {
    const entry = performance.getEntriesByName(url, "resource").at(-1);
    if (entry instanceof PerformanceResourceTiming && entry.startTime >= startedAt - 1)
      return {
        wireBytes: entry.transferSize,
        encodedBytes: entry.encodedBodySize,
        decodedBytes: entry.decodedBodySize,
        lastByteMs: entry.responseEnd - entry.startTime,
      };
    await new Promise((resolve) => setTimeout(resolve, TRANSFER_PAUSE_MS));
  }
  return undefined;
}
