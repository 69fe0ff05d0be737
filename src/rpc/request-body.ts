import { Code, ConnectError } from "@connectrpc/connect";
import { settledWithin, withTimeout } from "../platform/deadline.ts";
import { callFailure } from "./errors.ts";
import { CallError } from "./look-up.ts";
import { type RequestHead, decodeBase64, USUAL } from "./request.ts";
import { Buffer } from "node:buffer";

/**
 * Most bytes of a message. It protects the isolate: without it the router allocates the 4 GiB that
 * an envelope's prefix can announce.
 */
export const READ_MAX_BYTES = 4096;

/** A request body that the router reads. */
export interface RequestBody extends AsyncIterable<Uint8Array> {
  /**
   * Discards the unread rest. Call it before every answer: workerd cuts the connection of a client
   * that is still sending when the answer is complete, and closes it if the body was not read to its
   * end, while the client may already send its next request.
   */
  discard(): Promise<void>;
}

/** Longest wait for a streamed body. The router checks a deadline only after the body has arrived. */
const BODY_DEADLINE_MS = 10_000;
/** A body with a longer Content-Length is refused unread: 4 KiB fit even in base64. */
const ANNOUNCED_MAX_BYTES = 2 * READ_MAX_BYTES;

/** Longest wait for the unread rest of a body. */
const DISCARD_MS = 250;

/** A body that was read before. */
export function readBody(bytes: Uint8Array): RequestBody {
  return {
    async *[Symbol.asyncIterator]() {
      if (bytes.byteLength > 0) yield bytes;
    },
    async discard() {},
  };
}

/** A body that ended before it was read. */
export function brokenBody(cause: unknown): RequestBody {
  return failedBody(asConnectError(cause), null);
}

/** Streams a body, unless it announces more than any request has. */
export function streamBody(
  { body }: Pick<Request, "body">,
  { headers, timeoutMs = BODY_DEADLINE_MS }: RequestHead,
): RequestBody {
  const announced = headers.get("content-length") ?? "";
  if (/^\d+$/.test(announced) && Number(announced) > ANNOUNCED_MAX_BYTES) {
    const message = `message size ${Number(announced)} is larger than configured readMaxBytes ${READ_MAX_BYTES}`;
    return failedBody(new ConnectError(message, Code.ResourceExhausted), body);
  }
  const deadlineMs = Number.isNaN(timeoutMs) ? BODY_DEADLINE_MS : timeoutMs;
  return streamedBody(body, Date.now() + Math.min(deadlineMs, BODY_DEADLINE_MS));
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
      await settledWithin(DISCARD_MS, skimRest(read), () => undefined);
      // Cancelling fails if the client has already gone.
      await reader?.cancel().catch(() => undefined);
    },
  };
}

/** Reads what is left of a short body. Never rejects. */
async function skimRest(
  read: () => Promise<ReadableStreamReadResult<Uint8Array> | undefined>,
): Promise<void> {
  try {
    let bytes = 0;
    for (let chunk = await read(); chunk?.done === false; chunk = await read()) {
      bytes += chunk.value.byteLength;
      if (bytes > ANNOUNCED_MAX_BYTES) return;
    }
  } catch {
    // The client has gone, or sends no more.
  }
}

/** A body that stays unread, for a reason that the router reports to the client. */
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

/** Maps a failed read. Apart from a deadline, reading fails only if the client leaves. */
function asConnectError(cause: unknown): ConnectError {
  if (cause instanceof ConnectError) return cause;
  if (cause instanceof CallError) return callFailure(cause.reason);
  return new ConnectError("request body is incomplete", Code.Canceled, undefined, undefined, cause);
}

/**
 * Decodes a body of `application/grpc-web-text`. Each frame may carry its own padding (gRPC-Web,
 * "Protocol differences vs gRPC over HTTP2"). The decoder buffers fewer than four characters, so a
 * limit on the decoded bytes bounds its memory too.
 */
export async function* decodeBase64Frames(
  body: AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  let pending = "";
  for await (const chunk of body) {
    pending += latin1.decode(chunk);
    const whole = pending.length - (pending.length % 4);
    if (whole > 0) yield decodeQuanta(pending.slice(0, whole));
    pending = pending.slice(whole);
  }
  if (pending !== "") yield decodeQuanta(pending);
}

const latin1 = new TextDecoder("latin1");

/** Padding can occur between frames, so each run up to its padding is decoded on its own. */
function decodeQuanta(text: string): Uint8Array {
  const runs = text.match(/[^=]+={0,2}/g) ?? [];
  if (runs.join("") !== text) throw malformedBase64();
  try {
    return Buffer.concat(runs.map((run) => decodeBase64(run, USUAL)));
  } catch {
    throw malformedBase64();
  }
}

function malformedBase64(): ConnectError {
  return new ConnectError("protocol error: malformed base64", Code.InvalidArgument);
}
