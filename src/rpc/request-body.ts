import { Code, ConnectError } from "@connectrpc/connect";

/** The body of a request as the router reads it. */
export interface RequestBody extends AsyncIterable<Uint8Array> {
  /** The whole body, if it was read at once and is as long as announced. */
  readonly bytes?: Uint8Array;
  /**
   * Gives up what was not read. To be called before every answer: workerd cuts the connection of
   * a client that is still sending when the answer is complete.
   */
  discard(): Promise<void>;
}

/** The request's body: read at once if it announces at most `atOnceMaxBytes`, else as wanted. */
export async function takeBody(request: Request, atOnceMaxBytes: number): Promise<RequestBody> {
  const length = request.headers.get("content-length") ?? "";
  if (!/^\d{1,4}$/.test(length) || Number(length) > atOnceMaxBytes) {
    return streamedBody(request.body);
  }
  try {
    const bytes = new Uint8Array(await request.arrayBuffer());
    return readBody(bytes, Number(length));
  } catch (cause) {
    return failedBody(cause);
  }
}

/** The body of a GET or HEAD. */
export const NO_BODY: RequestBody = readBody(new Uint8Array(), 0);

function readBody(bytes: Uint8Array, announcedBytes: number): RequestBody {
  return {
    ...(bytes.byteLength === announcedBytes ? { bytes } : {}),
    async *[Symbol.asyncIterator]() {
      if (bytes.byteLength > 0) yield bytes;
    },
    async discard() {},
  };
}

function streamedBody(stream: ReadableStream<Uint8Array> | null): RequestBody {
  const reader = stream?.getReader();
  return {
    async *[Symbol.asyncIterator]() {
      try {
        for (let read = await reader?.read(); read?.done === false; read = await reader?.read()) {
          yield read.value;
        }
      } catch (cause) {
        throw incompleteBody(cause);
      }
    },
    async discard() {
      // The client may have gone; then there is nothing to give up.
      await reader?.cancel().catch(() => undefined);
    },
  };
}

function failedBody(cause: unknown): RequestBody {
  return {
    [Symbol.asyncIterator]: () => ({ next: () => Promise.reject(incompleteBody(cause)) }),
    async discard() {},
  };
}

/** The client went away while it was sending. */
function incompleteBody(cause: unknown): ConnectError {
  return new ConnectError("request body is incomplete", Code.Canceled, undefined, undefined, cause);
}
