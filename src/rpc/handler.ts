import { ConnectError, type HandlerContext } from "@connectrpc/connect";
import { codeToString } from "@connectrpc/connect/protocol-connect";
import { parseLocale } from "../catalog/locale.ts";
import { abortable, withTimeout } from "../storage/deadline.ts";
import { acceptedCodings } from "./content-coding.ts";
import {
  ACCEPT_POST,
  ALLOW,
  allowAnyOrigin,
  errorAnswer,
  errorResponse,
  isPreflight,
  preflightResponse,
  storedRepresentation,
  successResponse,
} from "./response.ts";
import {
  catalogFailure,
  deadlineExceeded,
  internalError,
  malformedLocale,
  preconditionFailed,
} from "./errors.ts";
import { type Call, PIN_PARAMETER, readCall } from "./fast-path.ts";
import {
  type CatalogSource,
  type Found,
  lookUp,
  type LookUpResult,
  peek,
  type Query,
  type Reader,
} from "./look-up.ts";
import type { Measure } from "./metrics.ts";
import { readConditions } from "./preconditions.ts";
import { NO_BODY, type RequestBody, type RequestHead, takeBody } from "./request.ts";
import { type AnswerCall, createRoute } from "./router.ts";

/** Logs a bug. Only the log shows its cause. */
type LogInternalError = (message: string, cause: unknown) => void;

export interface RpcOptions {
  readonly reader: Reader;
  /** Published locale for a request that names none. */
  readonly defaultLocale: string;
  readonly log: LogInternalError;
  /** Takes note of each answer. */
  readonly measure?: Measure | undefined;
}

/** Answers a request, synchronously where possible. Never throws or rejects. */
export type RpcHandler = (request: Request, head: RequestHead) => Response | Promise<Response>;

/**
 * Serves LocationsService over Connect and gRPC-Web from stored bytes. This handler answers usual
 * calls itself. Connect's router takes every other request and every error.
 */
export function createRpcHandler({
  reader,
  defaultLocale,
  log,
  measure = () => undefined,
}: RpcOptions): RpcHandler {
  const source: CatalogSource<Reader> = { reader, defaultLocale };
  const route = createRoute();

  function serve(request: Request, head: RequestHead): Response | Promise<Response> {
    if (head.method === "OPTIONS") {
      measure({ outcome: "options" });
      return answerOptions(request, head);
    }
    if (head.method === "GET" || head.method === "HEAD") return answer(request, head, NO_BODY);
    return takeBody(request, head).then((body) => answer(request, head, body));
  }

  /** Answers from memory without a promise, because each promise costs time. */
  function answer(
    request: Request,
    head: RequestHead,
    body: RequestBody,
  ): Response | Promise<Response> {
    const call = body.bytes && readCall(head, body.bytes);
    if (call === undefined) return askRouter(request, head, body);
    const query = queryFor(head, call);
    const held = peek(source, query);
    if (held?.ok) return sendFound(held.found, head);
    const fail = (cause: unknown) => askRouter(request, head, body, () => Promise.reject(cause));
    if (held !== undefined) return fail(catalogFailure(held.reason));
    const asked = lookUp(source, query);
    const { timeoutMs } = head.timeout;
    const inTime =
      timeoutMs === undefined ? asked : withTimeout(timeoutMs, asked, deadlineExceeded);
    const send = (result: LookUpResult) =>
      result.ok ? sendFound(result.found, head) : fail(catalogFailure(result.reason));
    return inTime.then(send, fail);
  }

  async function askRouter(
    request: Request,
    head: RequestHead,
    body: RequestBody,
    answerCall: AnswerCall = (locale, context) => answerRouted(locale, head, context),
  ): Promise<Response> {
    let outcome: string | undefined = "refused";
    const routed = await route({
      request,
      head,
      body,
      answerCall: async (locale, context) => {
        try {
          const response = await answerCall(locale, context);
          outcome = undefined;
          return response;
        } catch (cause) {
          const error = toConnectError(cause, context.signal);
          outcome = codeToString(error.code);
          throw error;
        }
      },
    });
    if (outcome !== undefined) measure({ outcome });
    return routed;
  }

  function toConnectError(cause: unknown, signal: AbortSignal): ConnectError {
    if (cause instanceof ConnectError) return cause;
    // The deadline passed, which caused this failure.
    if (signal.aborted) return ConnectError.from(signal.reason);
    log("GetLocationsV1 failed", cause);
    return internalError(cause);
  }

  /** Answers a call that the router has parsed. Rejects as soon as its deadline passes. */
  async function answerRouted(
    locale: string,
    head: RequestHead,
    { signal, responseHeader }: HandlerContext,
  ): Promise<Response> {
    const parsed = parseLocale(locale);
    if (!parsed.ok) throw malformedLocale(parsed.reason);
    signal.throwIfAborted();
    const stored = storedRepresentation(responseHeader.get("content-type"), head.contentType);
    const pin = head.method === "POST" ? null : new URL(head.url).searchParams.get(PIN_PARAMETER);
    const query = queryFor(head, { tag: parsed.tag, representation: stored, pin });
    const result = await abortable(signal, lookUp(source, query));
    if (!result.ok) throw catalogFailure(result.reason);
    return sendFound(result.found, head);
  }

  function sendFound(found: Found, head: RequestHead): Response {
    const response = responseFor(found, head);
    measure({ outcome: found.kind, found });
    return response;
  }

  function answerBug(request: Request, cause: unknown): Response {
    log("GetLocationsV1 failed", cause);
    const error = internalError(cause);
    measure({ outcome: codeToString(error.code) });
    const contentType = request.headers.get("content-type") ?? "";
    return errorResponse({ method: request.method, contentType }, errorAnswer(error, contentType));
  }

  return (request, head) => {
    try {
      const answering = serve(request, head);
      return answering instanceof Response
        ? answering
        : answering.catch((cause: unknown) => answerBug(request, cause));
    } catch (cause) {
      return answerBug(request, cause);
    }
  };
}

function responseFor(found: Found, head: RequestHead): Response {
  if (found.kind !== "precondition_failed") return successResponse(found, head);
  const refusal = errorAnswer(preconditionFailed(), head.contentType);
  return errorResponse(head, { ...refusal, status: 412 });
}

async function answerOptions(request: Request, head: RequestHead): Promise<Response> {
  await request.body?.cancel();
  if (isPreflight(head)) return preflightResponse(head);
  const headers = { allow: ALLOW, "accept-post": ACCEPT_POST };
  return new Response(null, { status: 204, headers: allowAnyOrigin(new Headers(headers)) });
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
