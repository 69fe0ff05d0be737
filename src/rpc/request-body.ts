import { base64Decode } from "@bufbuild/protobuf/wire";
import { Code, ConnectError } from "@connectrpc/connect";
import { readAllBytes } from "@connectrpc/connect/protocol";
import { settledWithin, withTimeout } from "../platform/deadline.ts";
import type { EpochMs } from "../platform/units.ts";
import { CallError } from "./look-up.ts";
import type { RequestHead } from "./request.ts";

/** Maximum size of a message in bytes. Without it an isolate would allocate the 4 GiB that an envelope can announce. */
export const READ_MAX_BYTES = 4096;

/** A request of which only the head was read. */
export interface UnreadRequest {
  readonly request: Pick<Request, "body">;
  readonly head: RequestHead;
  /** The body, if its read has started because it is short. */
  readonly taken?: Promise<Uint8Array>;
}

const BODY_DEADLINE_MS = 10_000;
/** Maximum Content-Length: 4 KiB fit even in base64. */
const ANNOUNCED_MAX_BYTES = 2 * READ_MAX_BYTES;

/** Longest wait for the unread rest of a body. */
const DISCARD_MS = 250;

/** The chunks of a body. Iterating throws ConnectError, or CallError after the client's deadline. */
interface RequestBody extends AsyncIterable<Uint8Array> {
  /**
   * Discards the unread rest before every answer. Otherwise workerd cuts the connection of a client
   * that is still sending, or that already sends its next request.
   */
  discard(): Promise<void>;
}

/** Opens a body. Refuses it unread if it announces more bytes than any request has. */
export function openBody({ request, head, taken }: UnreadRequest): RequestBody {
  const announcedBytes = Number(head.headers.get("content-length"));
  const reader = taken === undefined ? request.body?.getReader() : undefined;
  const deadlineAt = bodyDeadline(head);
  const read = async () =>
    reader && withTimeout(Math.max(0, deadlineAt - Date.now()), reader.read(), bodyIsLate);
  async function* chunks(): AsyncGenerator<Uint8Array> {
    if (announcedBytes > ANNOUNCED_MAX_BYTES) throw messageTooLarge(announcedBytes);
    try {
      if (taken !== undefined) yield await taken;
      for (let chunk = await read(); chunk?.done === false; chunk = await read()) yield chunk.value;
    } catch (cause) {
      if (cause instanceof ConnectError || cause instanceof CallError) throw cause;
      throw bodyIsIncomplete(cause);
    }
  }
  return {
    [Symbol.asyncIterator]: chunks,
    async discard() {
      const rest = readAllBytes(chunks(), ANNOUNCED_MAX_BYTES, null).catch(() => undefined);
      await settledWithin(DISCARD_MS, rest, () => undefined);
      // Cancelling fails if the client has already gone.
      await reader?.cancel().catch(() => undefined);
    },
  };
}

/** The deadline of a body, if the client's is missing, malformed or far away. */
function bodyDeadline({ deadlineAt = Infinity }: RequestHead): EpochMs {
  const latest = Date.now() + BODY_DEADLINE_MS;
  return deadlineAt < latest ? deadlineAt : latest;
}

/** Refuses a message in the words of Connect's router. */
export function messageTooLarge(bytes: number): ConnectError {
  const message = `message size ${bytes} is larger than configured readMaxBytes ${READ_MAX_BYTES}`;
  return new ConnectError(message, Code.ResourceExhausted);
}

function bodyIsLate(): ConnectError {
  return new ConnectError("the request's body did not arrive in time", Code.DeadlineExceeded);
}

/** Apart from a deadline, reading fails only if the client leaves. */
function bodyIsIncomplete(cause: unknown): ConnectError {
  return new ConnectError("request body is incomplete", Code.Canceled, undefined, undefined, cause);
}

/** Four characters of base64, with their padding. */
const BASE64_GROUP = /[A-Za-z0-9+/]{4}|[A-Za-z0-9+/]{3}=|[A-Za-z0-9+/]{2}==/g;
/** The rest after the last group: another one without its padding. */
const BASE64_END = /^(?:[A-Za-z0-9+/]{2,3})?$/;

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
    yield decodeBase64(pending.slice(0, whole));
    pending = pending.slice(whole);
  }
  yield decodeBase64(pending);
}

const latin1 = new TextDecoder("latin1");

function decodeBase64(text: string): Uint8Array {
  if (BASE64_END.test(text.replaceAll(BASE64_GROUP, ""))) return base64Decode(text);
  throw new ConnectError("protocol error: malformed base64", Code.InvalidArgument);
}
