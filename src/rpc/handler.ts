import { ConnectError, type HandlerContext } from "@connectrpc/connect";
import { LocationsService } from "../../gen/locations/v1/locations_pb.ts";
import { parseLocale } from "../catalog/locale.ts";
import type { Representation } from "../catalog/manifest.ts";
import { abortable } from "../storage/deadline.ts";
import { acceptedCodings } from "./content-coding.ts";
import { isPreflight, preflightResponse } from "./cors.ts";
import { errorAnswer, errorResponse } from "./error-response.ts";
import { catalogFailure, internalError, malformedLocale } from "./errors.ts";
import { readCall } from "./fast-path.ts";
import {
  type CatalogSource,
  lookUp,
  type LookUpResult,
  peek,
  type Query,
  type Reader,
} from "./look-up.ts";
import { isGrpc, storedRepresentation } from "./media-type.ts";
import { NO_BODY, type RequestBody, takeBody } from "./request-body.ts";
import { readHead, type RequestHead } from "./request-head.ts";
import { type AnswerCall, createRoute } from "./router.ts";
import { framedJsonResponse, successResponse } from "./success.ts";

/** Logs a bug. Only the log shows its cause. */
type LogInternalError = (message: string, cause: unknown) => void;

export interface RpcOptions {
  readonly reader: Reader;
  /** Published locale for a request that names none. */
  readonly defaultLocale: string;
  readonly log: LogInternalError;
}

/** Answers a request, synchronously where possible. Never throws or rejects. */
export type RpcHandler = (request: Request) => Response | Promise<Response>;

const SERVICE_PATH = `/${LocationsService.typeName}/`;

/** Whether a request addresses the service or uses gRPC on another path outside `/admin`. */
export function isRpcRequest(request: Request): boolean {
  const { url } = request;
  const pathStart = url.indexOf("/", url.indexOf("//") + "//".length);
  if (url.startsWith(SERVICE_PATH, pathStart)) return true;
  const isAdmin = /^\/admin/i.test(url.slice(pathStart));
  return isGrpc(request.headers.get("content-type") ?? "") && !isAdmin;
}

/**
 * Serves LocationsService over Connect and gRPC-Web from stored bytes. This handler answers usual
 * calls itself. Connect's router takes every other request and every error.
 */
export function createRpcHandler({ reader, defaultLocale, log }: RpcOptions): RpcHandler {
  const source: CatalogSource<Reader> = { reader, defaultLocale };
  const route = createRoute();

  function serve(request: Request): Response | Promise<Response> {
    const head = readHead(request);
    if (isPreflight(head)) return answerPreflight(request);
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
    const query = { tag: call.tag, ...wantedForm(head, call.representation) };
    const fail = (cause: unknown) => askRouter(request, head, body, () => Promise.reject(cause));
    const send = (result: LookUpResult) =>
      result.ok ? successResponse(result.found, head.method) : fail(catalogFailure(result.reason));
    const held = peek(source, query);
    if (held !== undefined) return send(held);
    // Only the router enforces the client's deadline.
    if (head.timeout.timeoutMs !== undefined) return askRouter(request, head, body);
    return lookUp(source, query, request).then(send, fail);
  }

  function askRouter(
    request: Request,
    head: RequestHead,
    body: RequestBody,
    answerCall: AnswerCall = (locale, context) => answerRouted(locale, head, context),
  ): Promise<Response> {
    return route({
      request,
      head,
      body,
      answerCall: (locale, context) =>
        answerCall(locale, context).catch((cause: unknown) => {
          throw toConnectError(cause, context.signal);
        }),
    });
  }

  function toConnectError(cause: unknown, signal: AbortSignal): ConnectError {
    if (cause instanceof ConnectError) return cause;
    // The client left or its deadline passed, which caused this failure.
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
    const form = stored === undefined ? FRAMED_JSON : wantedForm(head, stored);
    const asked = lookUp(source, { tag: parsed.tag, ...form }, { signal });
    const result = await abortable(signal, asked);
    if (!result.ok) throw catalogFailure(result.reason);
    const { found } = result;
    const isFramed = stored === undefined && found.kind === "body";
    return isFramed ? framedJsonResponse(found) : successResponse(found, head.method);
  }

  function answerBug(request: Request, cause: unknown): Response {
    if (!request.signal.aborted) log("GetLocationsV1 failed", cause);
    const contentType = request.headers.get("content-type") ?? "";
    const error = errorAnswer(internalError(cause), contentType);
    return errorResponse({ method: request.method, contentType }, error);
  }

  return (request) => {
    try {
      const answering = serve(request);
      return answering instanceof Response
        ? answering
        : answering.catch((cause: unknown) => answerBug(request, cause));
    } catch (cause) {
      return answerBug(request, cause);
    }
  };
}

async function answerPreflight(request: Request): Promise<Response> {
  await request.body?.cancel();
  return preflightResponse();
}

/** Builds the query for a stored representation, without the locale. */
function wantedForm(request: RequestHead, representation: Representation): Omit<Query, "tag"> {
  return {
    representation,
    codings: acceptedCodings(request),
    ifNoneMatch: request.method === "POST" ? null : request.headers.get("if-none-match"),
    withBody: request.method !== "HEAD",
  };
}

/** Query for JSON in gRPC-Web: the stored JSON is framed at request time. */
const FRAMED_JSON: Omit<Query, "tag"> = {
  representation: "json",
  codings: ["identity"],
  ifNoneMatch: null,
  withBody: true,
};
