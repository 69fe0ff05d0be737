import {
  Code,
  ConnectError,
  type ContextKey,
  createConnectRouter,
  createContextKey,
  createContextValues,
  type HandlerContext,
} from "@connectrpc/connect";
import {
  compressedFlag,
  encodeEnvelope,
  transformSplitEnvelope,
  type UniversalHandler,
  type UniversalServerRequest,
  type UniversalServerResponse,
  uResponseNotFound,
} from "@connectrpc/connect/protocol";
import { trailerFlag } from "@connectrpc/connect/protocol-grpc-web";
import { LocationsService } from "../../gen/locations/v1/locations_pb.ts";
import { concatenate } from "../catalog/bytes.ts";
import { decodeBase64Frames } from "./base64-body.ts";
import { errorAnswer, errorResponse, MEDIA_TYPES, type RouterAnswer } from "./response.ts";
import { isGrpcWebText, type RequestBody, type RequestHead, ROUTER_OPTIONS } from "./request.ts";

/** Answers a valid call. The router encodes the errors that this function throws. */
export type AnswerCall = (locale: string, context: HandlerContext) => Promise<Response>;

/** Any request, with a function that answers it if it is a valid call. */
interface Routed {
  readonly request: Request;
  readonly head: RequestHead;
  readonly body: RequestBody;
  readonly answerCall: AnswerCall;
}

const answerKey: ContextKey<AnswerCall> = createContextKey<AnswerCall>(() =>
  Promise.reject(new Error("no function answers the call")),
);

/**
 * Passes requests through Connect's router, which parses them, enforces deadlines and encodes
 * errors. `answerCall` answers a valid call from stored bytes; the empty message that the router
 * encodes for it is dropped.
 */
export function createRoute(): (routed: Routed) => Promise<Response> {
  const router = createConnectRouter(ROUTER_OPTIONS).service(LocationsService, {
    async getLocationsV1({ locale }, context) {
      await context.values.get(answerKey)(locale, context);
      return {};
    },
  });
  const handlers = new Map<string, UniversalHandler>(
    router.handlers.map((handler) => [handler.requestPath, handler]),
  );
  return async ({ request, head, body, answerCall }) => {
    let success: Response | undefined;
    const answer: AnswerCall = async (locale, context) =>
      (success = await answerCall(locale, context));
    const contextValues = createContextValues().set(answerKey, answer);
    const handler = handlers.get(new URL(head.url).pathname) ?? NOT_FOUND;
    const routed = await answerOf(handler, { ...asRead(request, head, body), contextValues });
    await body.discard();
    return success ?? errorResponse(head, routed);
  };
}

const NOT_FOUND = async () => uResponseNotFound;

async function answerOf(
  handler: (request: UniversalServerRequest) => Promise<UniversalServerResponse>,
  request: UniversalServerRequest,
): Promise<RouterAnswer> {
  try {
    return await readAnswer(await handler(request));
  } catch (cause) {
    if (!(cause instanceof URIError)) throw cause;
    return errorAnswer(UNQUOTABLE, MEDIA_TYPES["grpc-web"]);
  }
}

/**
 * Replaces an error that Connect cannot put into a trailer. Its message quotes a lone surrogate
 * from the client's JSON, which has no percent-encoding.
 */
const UNQUOTABLE = new ConnectError(
  "the message is not the JSON of a request",
  Code.InvalidArgument,
);

/** Converts a request for the router: HEAD to GET, base64 to binary gRPC-Web. */
function asRead(request: Request, head: RequestHead, body: RequestBody) {
  const header = new Headers(head.headers);
  // Stored bodies are already compressed. Without this header the router would compress again.
  header.set("accept-encoding", "identity");
  const isText = isGrpcWebText(head.contentType);
  if (isText) header.set("content-type", MEDIA_TYPES["grpc-web"]);
  const bytes = isText ? decodeBase64Frames(body) : body;
  return {
    httpVersion: "",
    method: head.method === "HEAD" ? "GET" : head.method,
    url: head.url,
    header,
    body: head.isGrpcWeb ? withKnownFlags(bytes) : bytes,
    signal: request.signal,
  };
}

/** Rejects gRPC-Web frames with undefined flags, which the router would ignore. */
async function* withKnownFlags(body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const frames = transformSplitEnvelope(ROUTER_OPTIONS.readMaxBytes)(body);
  for await (const { flags, data } of frames) {
    if ((flags & ~(compressedFlag | trailerFlag)) !== 0)
      throw new ConnectError(`protocol error: unknown frame flags ${flags}`, Code.InvalidArgument);
    yield encodeEnvelope(flags, data);
  }
}

async function readAnswer(answer: UniversalServerResponse): Promise<RouterAnswer> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of answer.body ?? []) chunks.push(chunk);
  return {
    status: answer.status,
    headers: new Headers(answer.header),
    body: concatenate(chunks),
  };
}
