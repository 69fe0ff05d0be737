import { Code, ConnectError } from "@connectrpc/connect";
import { withTimeout } from "../storage/deadline.ts";
import type { RequestHead } from "./request-head.ts";
import { ROUTER_OPTIONS } from "./router-options.ts";

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

/** How long a request's body may take to arrive: the router looks at a deadline only once it is there. */
const BODY_DEADLINE_MS = 10_000;
/** A body of any locale in any encoding is shorter. */
const SHORT_BODY_MAX_BYTES = 64;
/** A longer body is refused by what it announces: no request of 4 KiB needs more, in base64 either. */
const ANNOUNCED_MAX_BYTES = 2 * ROUTER_OPTIONS.readMaxBytes;

/** The request's body: read at once if it announces to be short, else as wanted. */
export async function takeBody(request: Request, head: RequestHead): Promise<RequestBody> {
  const text = head.headers.get("content-length") ?? "";
  const announced = /^\d+$/.test(text) ? Number(text) : undefined;
  if (announced !== undefined && announced > ANNOUNCED_MAX_BYTES) {
    const message = `message size ${announced} is larger than configured readMaxBytes ${ROUTER_OPTIONS.readMaxBytes}`;
    return failedBody(new ConnectError(message, Code.ResourceExhausted), request.body);
  }
  const deadlineMs = Math.min(head.timeout.timeoutMs ?? BODY_DEADLINE_MS, BODY_DEADLINE_MS);
  if (announced === undefined || announced > SHORT_BODY_MAX_BYTES)
    return streamedBody(request.body, Date.now() + deadlineMs);
  try {
    const bytes = new Uint8Array(await withTimeout(deadlineMs, request.arrayBuffer(), bodyIsLate));
    return readBody(bytes, announced);
  } catch (cause) {
    return failedBody(asConnectError(cause), null);
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

function streamedBody(stream: ReadableStream<Uint8Array> | null, deadlineAt: number): RequestBody {
  const reader = stream?.getReader();
  const read = async () =>
    reader && withTimeout(Math.max(0, deadlineAt - Date.now()), reader.read(), bodyIsLate);
  return {
    async *[Symbol.asyncIterator]() {
      try {
        for (let chunk = await read(); chunk?.done === false; chunk = await read())
          yield chunk.value;
      } catch (cause) {
        throw asConnectError(cause);
      }
    },
    async discard() {
      // The client may have gone; then there is nothing to give up.
      await reader?.cancel().catch(() => undefined);
    },
  };
}

/** A body that is not read, for a reason that the router tells the client. */
function failedBody(reason: ConnectError, unread: ReadableStream<Uint8Array> | null): RequestBody {
  return {
    [Symbol.asyncIterator]: () => ({ next: () => Promise.reject(reason) }),
    async discard() {
      await unread?.cancel().catch(() => undefined);
    },
  };
}

function bodyIsLate(): ConnectError {
  return new ConnectError("the request's body did not arrive in time", Code.DeadlineExceeded);
}

/** Apart from a deadline, reading fails if the client goes away while it is sending. */
function asConnectError(cause: unknown): ConnectError {
  if (cause instanceof ConnectError) return cause;
  return new ConnectError("request body is incomplete", Code.Canceled, undefined, undefined, cause);
}
