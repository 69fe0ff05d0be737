import {
  Code,
  ConnectError,
  type ConnectRouterOptions,
  createConnectRouter,
  createContextValues,
  type ServiceImpl,
} from "@connectrpc/connect";
import {
  type UniversalHandler,
  type UniversalServerResponse,
  uResponseNotFound,
} from "@connectrpc/connect/protocol";
import { LocationsService } from "../../gen/locations/v1/locations_pb.ts";
import { concatenate } from "../catalog/bytes.ts";
import { decodeBase64Frames } from "./base64-body.ts";
import { isGrpcWebText, MEDIA_TYPES } from "./media-type.ts";
import type { RequestBody } from "./request-body.ts";
import { errorAnswer, type RouterAnswer } from "./router-answer.ts";
import { type Call, callKey } from "./service.ts";

/** Asks Connect's router, HEAD as GET and base64 as binary gRPC-Web. */
export type Route = (asked: {
  readonly request: Request;
  readonly pathname: string;
  readonly body: RequestBody;
  readonly call: Call;
}) => Promise<RouterAnswer>;

/** Builds Connect's router for the service. */
export function createRoute(
  implementation: ServiceImpl<typeof LocationsService>,
  options: ConnectRouterOptions,
): Route {
  const router = createConnectRouter(options).service(LocationsService, implementation);
  const handlers = new Map<string, UniversalHandler>(
    router.handlers.map((handler) => [handler.requestPath, handler]),
  );
  return async ({ request, pathname, body, call }) => {
    const handler = handlers.get(pathname);
    if (handler === undefined) return readAnswer(uResponseNotFound);
    const header = new Headers(request.headers);
    // Bodies are coded outside of the router. Without the header it would code as the request.
    header.set("accept-encoding", "identity");
    const isText = isGrpcWebText(header.get("content-type") ?? "");
    if (isText) header.set("content-type", MEDIA_TYPES["grpc-web"]);
    const asked = {
      httpVersion: "",
      method: request.method === "HEAD" ? "GET" : request.method,
      url: request.url,
      header,
      body: isText ? decodeBase64Frames(body) : body,
      signal: request.signal,
      contextValues: createContextValues().set(callKey, call),
    };
    try {
      return await readAnswer(await handler(asked));
    } catch (cause) {
      if (cause instanceof URIError) return errorAnswer(unquotable(), request);
      throw cause;
    }
  };
}

/**
 * What is said of a message whose error Connect cannot put into a trailer: it would repeat a lone
 * surrogate of the client's JSON, which has no percent-encoding.
 */
function unquotable(): ConnectError {
  return new ConnectError("the message is not the JSON of a request", Code.InvalidArgument);
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
