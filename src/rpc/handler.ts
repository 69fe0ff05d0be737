import type { ConnectRouterOptions } from "@connectrpc/connect";
import { LocationsService } from "../../gen/locations/v1/locations_pb.ts";
import type { Representation } from "../catalog/manifest.ts";
import { acceptedCodings } from "./content-coding.ts";
import { isPreflight, preflightResponse } from "./cors.ts";
import { DECIDED_BODY_MAX_BYTES, decisionKey, DecisionMemo } from "./decision-memo.ts";
import { internalError } from "./errors.ts";
import {
  type CatalogSource,
  lookUp,
  lookUpHeld,
  type LookUpResult,
  type Query,
  type Reader,
} from "./look-up.ts";
import { isGrpc, storedRepresentation } from "./media-type.ts";
import { isError, judgeAnswer } from "./placeholder.ts";
import { NO_BODY, type RequestBody, takeBody } from "./request-body.ts";
import { readHead, type RequestHead } from "./request-head.ts";
import { errorAnswer, routerResponse } from "./router-answer.ts";
import { createRoute } from "./router.ts";
import { ROUTER_OPTIONS, sendsStoredBodies } from "./router-options.ts";
import { type Call, createLocationsService, type LogInternalError } from "./service.ts";
import { successResponse } from "./success.ts";

export interface RpcOptions {
  readonly reader: Reader;
  /** Locale of a request that names none; a published one. */
  readonly defaultLocale: string;
  readonly log: LogInternalError;
  /** Replaces options of Connect's router; for tests. */
  readonly router?: ConnectRouterOptions;
}

/** Answers a request: at once where it can. Neither throws nor rejects. */
export type RpcHandler = (request: Request) => Response | Promise<Response>;

const SERVICE_PATH = `/${LocationsService.typeName}/`;

/** Whether a request is for this room: a path of the service, or gRPC of any kind elsewhere. */
export function isRpcRequest(request: Request): boolean {
  const { url } = request;
  const pathStart = url.indexOf("/", url.indexOf("//") + "//".length);
  if (url.startsWith(SERVICE_PATH, pathStart)) return true;
  const isAdmin = /^\/admin/i.test(url.slice(pathStart));
  return isGrpc(request.headers.get("content-type") ?? "") && !isAdmin;
}

/**
 * Serves LocationsService over Connect and gRPC-Web. Connect's router decides about every
 * request; where a success is stored in the form that the request asks for, the router is left to
 * answer with an empty message and the stored body is sent in its place. To be made once an
 * isolate, because it remembers what the router decided.
 */
export function createRpcHandler(options: RpcOptions): RpcHandler {
  const source: CatalogSource<Reader> = {
    reader: options.reader,
    defaultLocale: options.defaultLocale,
  };
  const routerOptions = { ...ROUTER_OPTIONS, ...options.router };
  const route = createRoute(createLocationsService(source, options.log), routerOptions);
  const substitutes = sendsStoredBodies(routerOptions);
  const decisions = new DecisionMemo();

  function serve(request: Request): Response | Promise<Response> {
    const head = readHead(request);
    if (isPreflight(head)) return answerPreflight(request);
    if (head.method === "GET" || head.method === "HEAD") return answerCall(request, head, NO_BODY);
    return serveBody(request, head);
  }

  async function serveBody(request: Request, head: RequestHead): Promise<Response> {
    return answerCall(request, head, await takeBody(request, head, DECIDED_BODY_MAX_BYTES));
  }

  /** Answers without waiting what was decided before and is in memory: each promise costs. */
  function answerCall(
    request: Request,
    head: RequestHead,
    body: RequestBody,
  ): Response | Promise<Response> {
    const key = substitutes && body.bytes ? decisionKey(head, body.bytes) : undefined;
    const decision = key === undefined ? undefined : decisions.get(key);
    if (decision === undefined) return askRouter(request, head, { body, key });
    const query = { tag: decision.tag, ...wantedForm(head, decision.representation) };
    const held = lookUpHeld(source, query, decision.chosen);
    const answer = (known: LookUpResult) =>
      known.ok
        ? successResponse(known.found, head.method)
        : askRouter(request, head, { body, known });
    return held === undefined ? lookUp(source, query, request).then(answer) : answer(held);
  }

  async function askRouter(
    request: Request,
    head: RequestHead,
    { body, key, known }: Unanswered,
  ): Promise<Response> {
    const { pathname, searchParams } = new URL(request.url);
    const representation = substitutes
      ? storedRepresentation(request, searchParams.get("encoding"))
      : undefined;
    const call: Call = { wanted: representation && wantedForm(head, representation), known };
    const answer = await route({ request, pathname, body, call });
    await body.discard();
    if (call.success === undefined) return routerResponse(request, answer);
    const { tag, found } = call.success;
    if (representation === undefined) {
      return routerResponse(request, answer, isError(answer) ? undefined : found.variant);
    }
    switch (judgeAnswer(answer, representation)) {
      case "placeholder":
        if (key !== undefined) decisions.set(key, { representation, tag, chosen: new WeakMap() });
        return successResponse(found, head.method);
      case "error":
        return routerResponse(request, answer);
      case "unexpected":
        throw new Error(`unexpected answer of the router, status ${answer.status}`);
    }
  }

  function answerBug(request: Request, cause: unknown): Response {
    if (!request.signal.aborted) options.log("GetLocationsV1 failed", cause);
    return routerResponse(request, errorAnswer(internalError(cause), request));
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

/** A call that the router is asked about. */
interface Unanswered {
  readonly body: RequestBody;
  /** Under which its decision is to be remembered; undefined where it is not. */
  readonly key?: string | undefined;
  /** What looking it up came to, where that was tried. */
  readonly known?: LookUpResult;
}

async function answerPreflight(request: Request): Promise<Response> {
  await request.body?.cancel();
  return preflightResponse();
}

/** What to look for, apart from the locale, to answer a request in a stored representation. */
function wantedForm(request: RequestHead, representation: Representation): Omit<Query, "tag"> {
  return {
    representation,
    codings: acceptedCodings(request),
    ifNoneMatch: request.method === "POST" ? null : request.headers.get("if-none-match"),
    withBody: request.method !== "HEAD",
  };
}
