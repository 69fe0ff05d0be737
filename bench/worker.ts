/**
 * The entry points that are measured in one run on the same bytes:
 *
 * - the service itself, at its own paths;
 * - `/constant/…`: a recorded answer as a constant, in the form that workerd sends fastest, after
 *   reading the request, as every service must: the limit;
 * - `/stock/…`: Connect's router with the message in memory, which it encodes for each request.
 */
import { fromBinary } from "@bufbuild/protobuf";
import { createConnectRouter } from "@connectrpc/connect";
import {
  universalServerRequestFromFetch,
  universalServerResponseToFetch,
} from "@connectrpc/connect/protocol";
import {
  type LocationsResponse,
  LocationsResponseSchema,
  LocationsService,
} from "../gen/locations/v1/locations_pb.ts";
import service from "../src/worker/worker.ts";

export { AlertMonitor, IngestCoordinator, PartCompressor } from "../src/worker/worker.ts";

interface Constant {
  readonly status: number;
  readonly headers: Headers;
  /** A stream of it is sent without a copy, which an ArrayBuffer is not. */
  readonly content: Blob | null;
}

const SERVICE_PATH = `/${LocationsService.typeName}/${LocationsService.method.getLocationsV1.name}`;

const constants = new Map<string, Constant>();
let message: LocationsResponse | undefined;

const router = createConnectRouter({ grpc: false }).service(LocationsService, {
  getLocationsV1() {
    if (message === undefined) throw new Error("learn a message first");
    return message;
  },
});
const stock = new Map<string, (typeof router.handlers)[number]>(
  router.handlers.map((handler) => [`/stock${handler.requestPath}`, handler]),
);

export default {
  async fetch(request, env) {
    const { pathname } = new URL(request.url);
    if (pathname === "/learn-message") return learnMessage(await request.arrayBuffer());
    if (pathname.startsWith("/learn/")) return learn(request, pathname, env);
    return answer(request, pathname, env);
  },
} satisfies ExportedHandler<Env>;

async function answer(
  request: Parameters<typeof service.fetch>[0],
  pathname: string,
  env: Env,
): Promise<Response> {
  const constant = constants.get(pathname);
  if (constant !== undefined) return readFirst(request, constant);
  const handler = stock.get(pathname);
  if (handler !== undefined)
    return universalServerResponseToFetch(
      await handler(universalServerRequestFromFetch(request, {})),
    );
  return service.fetch(request, env);
}

/** Reads the parts of a request that determine the answer, and answers with a constant. */
async function readFirst(request: Request, constant: Constant): Promise<Response> {
  const { method, url, headers, cf } = request;
  const names = ["content-type", "accept-encoding", "if-none-match", "connect-timeout-ms"];
  const read = [method, url, cf, ...names.map((name) => headers.get(name))];
  const body = method === "POST" ? await request.arrayBuffer() : undefined;
  if (read.length === 0 || body?.byteLength === 0) throw new Error("there is nothing to read");
  return new Response(constant.content?.stream() ?? null, { ...constant, encodeBody: "manual" });
}

/** Asks the service once, and keeps its answer as the constant of `/constant/<name>`. */
async function learn(request: Request, pathname: string, env: Env): Promise<Response> {
  const url = new URL(request.url);
  url.pathname = SERVICE_PATH;
  const answered = await service.fetch(
    new Request(url, { method: request.method, headers: request.headers, body: request.body }),
    env,
  );
  const { status, headers } = answered;
  const content = answered.body === null ? null : await answered.blob();
  constants.set(`/constant/${pathname.slice("/learn/".length)}`, { status, headers, content });
  return Response.json({ status, bytes: content?.size ?? 0 });
}

/** Keeps the message that the stock router encodes for each request. */
function learnMessage(buffer: ArrayBuffer): Response {
  message = fromBinary(LocationsResponseSchema, new Uint8Array(buffer));
  return Response.json({ airports: message.airports.length });
}
