import { Code, ConnectError, type ConnectRouterOptions } from "@connectrpc/connect";
import { parseTimeout as parseConnectTimeout } from "@connectrpc/connect/protocol-connect";
import { parseTimeout as parseGrpcTimeout } from "@connectrpc/connect/protocol-grpc-web";
import { LocationsService } from "../../gen/locations/v1/locations_pb.ts";
import { settledWithin, withTimeout } from "../storage/deadline.ts";

/**
 * Options of Connect's router; the fast path obeys them too. `readMaxBytes` protects the isolate:
 * without it the router allocates the 4 GiB that an envelope's prefix can announce.
 */
export const ROUTER_OPTIONS = {
  /** A Worker cannot send HTTP trailers, which gRPC needs. */
  grpc: false,
  readMaxBytes: 4096,
  /** The longest delay of a timer. A longer one fires at once. */
  maxTimeoutMs: 2_147_483_647,
  acceptCompression: [],
} as const satisfies ConnectRouterOptions;

/** The parts of a request, apart from its body, that determine the answer. */
export interface RequestHead {
  readonly method: string;
  readonly url: string;
  readonly headers: Headers;
  /** Metadata from Cloudflare's edge; undefined if the request did not come through it. */
  readonly cf: Request["cf"] | undefined;
  /** Empty if the header is missing. */
  readonly contentType: string;
  readonly isGrpcWeb: boolean;
  /** The client's deadline, if any; `error` if the router refuses it. */
  readonly timeout: ReturnType<typeof parseConnectTimeout>;
}

/** Reads each property and header once, because each read costs a call out of JavaScript. */
export function readHead({ method, url, headers, cf }: Request): RequestHead {
  const contentType = headers.get("content-type") ?? "";
  // Only a POST can be gRPC-Web. Any other method is Connect's GET or is refused.
  const speaksGrpcWeb = method === "POST" && isGrpcWeb(contentType);
  const timeout = speaksGrpcWeb
    ? parseGrpcTimeout(headers.get("grpc-timeout"), ROUTER_OPTIONS.maxTimeoutMs)
    : parseConnectTimeout(headers.get("connect-timeout-ms"), ROUTER_OPTIONS.maxTimeoutMs);
  return { method, url, headers, cf, contentType, isGrpcWeb: speaksGrpcWeb, timeout };
}

/** Whether a request is gRPC-Web in base64, which the router does not support. */
export function isGrpcWebText(contentType: string): boolean {
  return /^application\/grpc-web-text(?:\+proto)?$/i.test(contentType);
}

/** Whether a content type is gRPC-Web, which reports errors in a trailer frame. */
export function isGrpcWeb(contentType: string): boolean {
  return /^application\/grpc-web/i.test(contentType);
}

/** Whether a content type is any kind of gRPC, supported or not. */
function isGrpc(contentType: string): boolean {
  return /^application\/grpc/i.test(contentType);
}

const SERVICE_PATH = `/${LocationsService.typeName}/`;

/**
 * Whether a request addresses the service, has the path of another service's method, or uses gRPC on
 * any path outside `/admin`. Clients of all of these expect an error in their protocol.
 */
export function isRpcRequest({ url, contentType }: RequestHead): boolean {
  const pathStart = url.indexOf("/", url.indexOf("//") + "//".length);
  if (url.startsWith(SERVICE_PATH, pathStart)) return true;
  const path = url.slice(pathStart);
  if (/^\/admin/i.test(path)) return false;
  return METHOD_PATH.test(path) || isGrpc(contentType);
}

/** `/package.Service/Method`, with or without a query. */
const METHOD_PATH = /^\/\w+(?:\.\w+)+\/\w+(?:\?|$)/;

/** A request body that the router reads. */
export interface RequestBody extends AsyncIterable<Uint8Array> {
  /** The whole body, if it is short and has its announced length. */
  readonly bytes?: Uint8Array | undefined;
  /**
   * Discards the unread rest. Call it before every answer: workerd cuts the connection of a client
   * that is still sending when the answer is complete, and closes it if the body was not read to its
   * end, while the client may already send its next request.
   */
  discard(): Promise<void>;
}

/** Longest wait for a streamed body. The router checks a deadline only after the body has arrived. */
const BODY_DEADLINE_MS = 10_000;
/** Longer than any valid request in any encoding. */
const SHORT_BODY_MAX_BYTES = 64;
/** A body with a longer Content-Length is refused unread: 4 KiB fit even in base64. */
const ANNOUNCED_MAX_BYTES = 2 * ROUTER_OPTIONS.readMaxBytes;

/** Longest wait for the unread rest of a body. */
const DISCARD_MS = 250;

/** A body that has been read. */
class ShortBody implements RequestBody {
  readonly bytes: Uint8Array | undefined;
  readonly #read: Uint8Array;

  constructor(read: Uint8Array, announcedBytes: number) {
    this.#read = read;
    this.bytes = read.byteLength === announcedBytes ? read : undefined;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array> {
    if (this.#read.byteLength > 0) yield this.#read;
  }

  async discard(): Promise<void> {}
}

/**
 * Reads a body that announces a short length at once. Streams any other body. Never rejects.
 *
 * Accepted: neither a limit of ours nor the client's deadline ends the wait for a short body, only
 * the end of the connection. A timer would cost each request more than its whole lookup.
 */
export function takeBody(request: Request, head: RequestHead): Promise<RequestBody> {
  const text = head.headers.get("content-length") ?? "";
  const announced = /^\d+$/.test(text) ? Number(text) : undefined;
  if (announced !== undefined && announced > ANNOUNCED_MAX_BYTES) {
    const message = `message size ${announced} is larger than configured readMaxBytes ${ROUTER_OPTIONS.readMaxBytes}`;
    const refusal = new ConnectError(message, Code.ResourceExhausted);
    return Promise.resolve(failedBody(refusal, request.body));
  }
  if (announced === undefined || announced > SHORT_BODY_MAX_BYTES) {
    const deadlineMs = Math.min(head.timeout.timeoutMs ?? BODY_DEADLINE_MS, BODY_DEADLINE_MS);
    return Promise.resolve(streamedBody(request.body, Date.now() + deadlineMs));
  }
  return request.arrayBuffer().then(
    (buffer) => new ShortBody(new Uint8Array(buffer), announced),
    (cause: unknown) => failedBody(asConnectError(cause), null),
  );
}

/** The body of a GET or HEAD. */
export const NO_BODY: RequestBody = new ShortBody(new Uint8Array(), 0);

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
  return new ConnectError("request body is incomplete", Code.Canceled, undefined, undefined, cause);
}
