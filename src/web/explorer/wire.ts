import { type CallRequest, callRequest } from "./call-request.ts";
import type { CallSettings } from "./permalink.ts";
import { regionsFinder } from "./regions-finder.ts";

/** An answer without its body. */
export interface Exchange {
  readonly method: string;
  readonly url: string;
  readonly status: number;
  readonly headers: Headers;
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

type Body = Uint8Array<ArrayBuffer>;

export interface Answer {
  readonly exchange: Exchange;
  readonly body: Body;
}

interface SendOptions {
  readonly signal: AbortSignal;
  /** Bypasses a fresh answer in the browser's cache. */
  readonly revalidate: boolean;
  readonly onProgress: (progress: Progress) => void;
  /** Called with all lists but the regions, if they have arrived and the rest is slow to come. */
  readonly onBeginning: (response: Response, body: Body) => void;
}

declare global {
  interface Window {
    /** The request that `early-call.js` has sent before this script was loaded. */
    earlyCall?: { readonly url: string; readonly answer: Promise<Response> } | undefined;
  }
}

/** Ratio of the length of an answer to its length on the wire in brotli. */
export const BROTLI_RATIO = 2.9;
/** The same by the content coding. */
const USUAL_RATIOS: { readonly [coding: string]: number } = { br: BROTLI_RATIO, gzip: 2.4 };
/** Longest wait for a measurement, which the browser adds shortly after the end of the body. */
const TRANSFER_DEADLINE_MS = 5_000;
const TRANSFER_PAUSE_MS = 15;
/** Shows progress so often. Showing every chunk would take longer than reading it. */
const PROGRESS_MS = 100;
/** A faster answer is shown only as a whole, because showing its beginning as well takes longer. */
const SLOW_ANSWER_MS = 1_500;

/** Makes the call, or takes the answer of the same one that was sent early. */
export async function sendCall(
  settings: CallSettings,
  { signal, revalidate, onProgress, onBeginning }: SendOptions,
): Promise<Answer> {
  const request = callRequest(settings, window.location.origin);
  const { url, method } = request;
  const early = window.earlyCall?.url === url && !revalidate ? window.earlyCall : undefined;
  window.earlyCall = undefined;
  if (!early) performance.clearResourceTimings();
  const startedAt = early ? 0 : performance.now();
  const cache = revalidate ? "no-cache" : "default";
  const response = await (early?.answer ?? send(request, { signal, cache }));
  const { status, headers } = response;
  const onCommonPart = (join: () => Body) => {
    if (performance.now() - startedAt > SLOW_ANSWER_MS) onBeginning(response, join());
  };
  const body = await readBody(response, {
    onProgress,
    ...(response.ok && isBareProtobuf(response) && { onCommonPart }),
  });
  return { exchange: { method, url, status, headers, startedAt }, body };
}

function send(
  { url, method, contentType, body }: CallRequest,
  init: Pick<RequestInit, "signal" | "cache">,
): Promise<Response> {
  const headers = contentType === undefined ? {} : { "content-type": contentType };
  return fetch(url, { ...init, method, headers, body: body ?? null });
}

/** Whether the body is the message alone, without envelopes. */
function isBareProtobuf({ headers }: Response): boolean {
  return headers.get("content-type") === "application/proto";
}

interface Readers extends Pick<SendOptions, "onProgress"> {
  /** Called once with what returns what is before the regions. */
  readonly onCommonPart?: (join: () => Body) => void;
}

async function readBody(response: Response, { onProgress, onCommonPart }: Readers): Promise<Body> {
  const coding = response.headers.get("content-encoding") ?? "";
  const length = Number(response.headers.get("content-length") ?? 0) * (USUAL_RATIOS[coding] ?? 1);
  const chunks: Uint8Array<ArrayBuffer>[] = [];
  let bytes = 0;
  let shownAt = 0;
  let findRegions = onCommonPart && regionsFinder();
  const reader = response.body?.getReader();
  for (let read = await reader?.read(); read?.value; read = await reader?.read()) {
    chunks.push(read.value);
    bytes += read.value.length;
    const regionsAt = findRegions?.(read.value);
    if (regionsAt !== undefined) {
      findRegions = undefined;
      onCommonPart?.(() => joinChunks(chunks, regionsAt));
    }
    if (performance.now() - shownAt < PROGRESS_MS) continue;
    shownAt = performance.now();
    onProgress({ bytes, share: length > 0 ? Math.min(1, bytes / length) : null });
  }
  onProgress({ bytes, share: 1 });
  return joinChunks(chunks, bytes);
}

/** Joins so many bytes. Not by a `Blob`, for which the browser copies them through another process. */
function joinChunks(chunks: readonly Uint8Array[], length: number): Body {
  const joined = new Uint8Array(length);
  let at = 0;
  for (const chunk of chunks) {
    joined.set(chunk.subarray(0, length - at), at);
    at += Math.min(chunk.length, length - at);
  }
  return joined;
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
