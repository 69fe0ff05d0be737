import { Code, ConnectError } from "@connectrpc/connect";
import { concatenate } from "../catalog/bytes.ts";
import { withTimeout } from "../platform/deadline.ts";
import { callFailure } from "./errors.ts";
import { CallError } from "./look-up.ts";
import type { RequestHead } from "./request.ts";

/**
 * Most bytes of a message. It protects the isolate: without it the router allocates the 4 GiB that
 * an envelope's prefix can announce.
 */
export const READ_MAX_BYTES = 4096;
/** Most bytes of a body that are read: 4 KiB fit even in base64. */
const BODY_MAX_BYTES = 2 * READ_MAX_BYTES;
/** Longest wait for a body. The router checks a deadline only after the body has arrived. */
const BODY_DEADLINE_MS = 10_000;

/**
 * Reads a body, or the beginning of one that is longer than any request has. Returns the error for the
 * client if that fails, and at once if the body announces too many bytes.
 *
 * Call it before every answer: workerd cuts the connection of a client that is still sending when the
 * answer is complete, and closes it if the body was not read to its end, while the client may already
 * send its next request.
 */
export async function readBody(
  { body }: Pick<Request, "body">,
  { headers, timeoutMs = BODY_DEADLINE_MS }: RequestHead,
): Promise<Uint8Array | ConnectError> {
  const reader = body?.getReader();
  if (reader === undefined) return new Uint8Array();
  const announced = headers.get("content-length") ?? "";
  const deadlineMs = Number.isNaN(timeoutMs) ? BODY_DEADLINE_MS : timeoutMs;
  try {
    if (/^\d+$/.test(announced) && Number(announced) > BODY_MAX_BYTES) {
      const message = `message size ${Number(announced)} is larger than configured readMaxBytes ${READ_MAX_BYTES}`;
      throw new ConnectError(message, Code.ResourceExhausted);
    }
    return await withTimeout(Math.min(deadlineMs, BODY_DEADLINE_MS), readFrom(reader), bodyIsLate);
  } catch (cause) {
    return bodyError(cause);
  } finally {
    // Cancelling fails if the client has already gone.
    await reader.cancel().catch(() => undefined);
  }
}

async function readFrom(reader: ReadableStreamDefaultReader<Uint8Array>): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  while (bytes <= BODY_MAX_BYTES) {
    const { done, value } = await reader.read();
    if (done) break;
    chunks.push(value);
    bytes += value.byteLength;
  }
  return concatenate(chunks).subarray(0, BODY_MAX_BYTES);
}

function bodyIsLate(): ConnectError {
  return new ConnectError("the request's body did not arrive in time", Code.DeadlineExceeded);
}

/** Maps a failed read. Apart from a deadline, reading fails only if the client leaves. */
export function bodyError(cause: unknown): ConnectError {
  if (cause instanceof ConnectError) return cause;
  if (cause instanceof CallError) return callFailure(cause.reason);
  return new ConnectError("request body is incomplete", Code.Canceled, undefined, undefined, cause);
}
