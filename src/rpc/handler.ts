import { abortable, withTimeout } from "../platform/deadline.ts";
import { acceptedCodings } from "./content-coding.ts";
import { type Call, readCall } from "./request.ts";
import {
  CallError,
  type CatalogSource,
  type Found,
  lookUp,
  type LookUpResult,
  peek,
  type Query,
} from "./look-up.ts";
import type { Measure } from "./metrics.ts";
import { readConditions } from "./preconditions.ts";
import { type RequestHead, shortBodyBytes } from "./request.ts";
import { answerOptions, successResponse } from "./response.ts";
import type { Routed, Router } from "./router.ts";

/** Logs a bug. Only the log shows its cause. */
type LogInternalError = (message: string, cause: unknown) => void;

export interface RpcOptions extends CatalogSource {
  readonly log: LogInternalError;
  /** Takes note of each answer. */
  readonly measure?: Measure | undefined;
}

/** Answers a request, synchronously where possible. Never throws or rejects. */
export type RpcHandler = (request: Request, head: RequestHead) => Response | Promise<Response>;

const NO_BYTES = new Uint8Array();

/**
 * Serves LocationsService over Connect and gRPC-Web from stored bytes. This handler answers usual
 * calls itself. Connect's router, which is loaded when it is first needed, takes every other request
 * and every error.
 */
export function createRpcHandler({
  log,
  measure = () => undefined,
  ...source
}: RpcOptions): RpcHandler {
  let router: Router | undefined;

  function serve(request: Request, head: RequestHead): Response | Promise<Response> {
    if (head.method === "OPTIONS") {
      measure({ outcome: "options" });
      return answerOptions(request, head);
    }
    if (head.method === "GET" || head.method === "HEAD") return answer(request, head, NO_BYTES);
    const announcedBytes = shortBodyBytes(head);
    if (announcedBytes === undefined) return route({ request, head });
    return takeBody(request, head).then(
      (read) =>
        read.byteLength === announcedBytes
          ? answer(request, head, read)
          : route({ request, head, read }),
      (cause: unknown) => route({ request, head, broken: cause }),
    );
  }

  /** Answers from memory without a promise, because each promise costs time. */
  function answer(
    request: Request,
    head: RequestHead,
    read: Uint8Array,
  ): Response | Promise<Response> {
    const call = readCall(head, read);
    if (call === undefined) return route({ request, head, read });
    const query = queryFor(head, call);
    const cached = peek(source, query);
    if (cached?.ok) return sendFound(cached.found, head);
    const fail = (failure: unknown) => route({ request, head, read, failure });
    if (cached !== undefined) return fail(new CallError(cached.reason));
    const send = (result: LookUpResult) =>
      result.ok ? sendFound(result.found, head) : fail(new CallError(result.reason));
    return inTime(head, lookUp(source, query)).then(send, fail);
  }

  async function route(routed: Routed): Promise<Response> {
    const { createRouter } = await import("./router.ts");
    router ??= createRouter({ answerCall, log, measure });
    return router(routed);
  }

  /** Answers a call that the router has parsed. Rejects as soon as its deadline passes. */
  async function answerCall(head: RequestHead, call: Call, signal: AbortSignal): Promise<Response> {
    signal.throwIfAborted();
    const result = await abortable(signal, lookUp(source, queryFor(head, call)));
    if (!result.ok) throw new CallError(result.reason);
    return sendFound(result.found, head);
  }

  function sendFound(found: Found, head: RequestHead): Response | Promise<Response> {
    measure({ outcome: found.kind, found });
    if (found.kind !== "precondition_failed") return successResponse(found, head);
    return import("./router.ts").then(({ refusePrecondition }) => refusePrecondition(head));
  }

  async function answerBug(
    { method, contentType }: RequestHead,
    cause: unknown,
  ): Promise<Response> {
    log("GetLocationsV1 failed", cause);
    measure({ outcome: "internal" });
    const { answerInternalError } = await import("./router.ts");
    return answerInternalError({ method, contentType }, cause);
  }

  return (request, head) => {
    try {
      const answering = serve(request, head);
      return answering instanceof Response
        ? answering
        : answering.catch((cause: unknown) => answerBug(head, cause));
    } catch (cause) {
      return answerBug(head, cause);
    }
  };
}

/**
 * Reads a short body. Without a deadline of the client only the end of the connection ends the wait:
 * a timer would cost each request more than its whole look-up.
 */
function takeBody(request: Request, head: RequestHead): Promise<Uint8Array> {
  return inTime(head, request.arrayBuffer()).then((buffer) => new Uint8Array(buffer));
}

/** Waits as long as the client does. Rejects with CallError. */
function inTime<T>({ timeoutMs }: RequestHead, work: Promise<T>): Promise<T> {
  return timeoutMs === undefined || Number.isNaN(timeoutMs)
    ? work
    : withTimeout(timeoutMs, work, () => new CallError("deadline_exceeded"));
}

function queryFor(head: RequestHead, { tag, representation, pin }: Call): Query {
  return {
    tag,
    representation,
    codings: acceptedCodings(head),
    pin,
    conditions: head.method === "POST" ? null : readConditions(head.headers),
    withBody: head.method !== "HEAD",
  };
}
