/**
 * The doors that are measured in one run on the same bytes:
 *
 * - the service itself, at its own paths;
 * - `/constant/…`: what the service answered once, as a constant, held as workerd sends it fastest:
 *   the limit;
 * - `/reading/…`: the same constant, given once the request is read, without which no service knows
 *   what is asked of it;
 * - `/stock/…`: Connect's router with the message in memory, which it encodes for each request;
 * - `/decode/…`: the same router, with the message decoded from its bytes for each request;
 * - `/phase/…`: one part of an ingest at a time, or a whole one with stores in memory, timed from
 *   outside, where the clock runs;
 * - `/kv-reads`: how often the service has read KV.
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
import service from "../src/worker.ts";
import { runPhase } from "./phases.ts";

export { AlertMonitor, IngestCoordinator, SegmentCompressor } from "../src/worker.ts";

interface Constant {
  readonly status: number;
  readonly headers: Headers;
  /** A stream of it is sent without a copy, which an ArrayBuffer is not. */
  readonly content: Blob | null;
}

const SERVICE_PATH = `/${LocationsService.typeName}/${LocationsService.method.getLocationsV1.name}`;

const constants = new Map<string, Constant>();
let learned: { readonly message: LocationsResponse; readonly bytes: Uint8Array } | undefined;

/** Connect's router at paths of its own, which answers what a message is made of. */
function routerAt(prefix: string, read: (from: NonNullable<typeof learned>) => LocationsResponse) {
  const { handlers } = createConnectRouter({ grpc: false }).service(LocationsService, {
    getLocationsV1() {
      if (learned === undefined) throw new Error("learn a message first");
      return read(learned);
    },
  });
  return handlers.map((handler) => [`${prefix}${handler.requestPath}`, handler] as const);
}

const stock = new Map([
  ...routerAt("/stock", ({ message }) => message),
  ...routerAt("/decode", ({ bytes }) => fromBinary(LocationsResponseSchema, bytes)),
]);

export default {
  async fetch(request, env) {
    const url = new URL(request.url);
    const { pathname } = url;
    if (pathname === "/learn-message") return learnMessage(await request.arrayBuffer());
    if (pathname.startsWith("/learn/")) return learn(request, pathname, env);
    if (pathname === "/repeat") return repeat(await request.json(), env);
    if (pathname === "/kv-reads") return Response.json({ kvReads });
    if (pathname.startsWith("/phase/"))
      return Response.json(await runPhase(pathname.slice("/phase/".length), url.searchParams));
    return answer(request, pathname, env);
  },
} satisfies ExportedHandler<Env>;

/** Answers by one of those that are compared. */
async function answer(
  request: Parameters<typeof service.fetch>[0],
  pathname: string,
  env: Env,
): Promise<Response> {
  const constant = constants.get(pathname);
  if (constant !== undefined) return constantResponse(constant);
  if (pathname.startsWith("/reading/")) return readFirst(request, pathname);
  const handler = stock.get(pathname);
  if (handler !== undefined)
    return universalServerResponseToFetch(
      await handler(universalServerRequestFromFetch(request, {})),
    );
  return service.fetch(request, (countingEnv ??= countReads(env)));
}

let kvReads = 0;
let countingEnv: Env | undefined;

function countReads(env: Env): Env {
  const CATALOG = new Proxy(env.CATALOG, {
    get(kv, name) {
      if (name === "get") kvReads++;
      return Reflect.get(kv, name).bind(kv);
    },
  });
  return { ...env, CATALOG };
}

function constantResponse(constant: Constant): Response {
  return new Response(constant.content?.stream() ?? null, { ...constant, encodeBody: "manual" });
}

/** Reads of a request what the answer to it depends on, and answers with a constant all the same. */
async function readFirst(request: Request, pathname: string): Promise<Response> {
  const { method, url, headers, cf } = request;
  const names = ["content-type", "accept-encoding", "if-none-match", "connect-timeout-ms"];
  const read = [method, url, cf, ...names.map((name) => headers.get(name))];
  const body = method === "POST" ? await request.arrayBuffer() : undefined;
  const constant = constants.get(pathname.replace("/reading/", "/constant/"));
  if (constant === undefined) throw new Error(`learn ${pathname} first`);
  if (read.length === 0 || body?.byteLength === 0) throw new Error("there is nothing to read");
  return constantResponse(constant);
}

/** A request to be answered over and over without being sent anywhere. */
interface Repeated {
  readonly times: number;
  readonly method: string;
  readonly url: string;
  readonly headers: Record<string, string>;
  readonly body: readonly number[];
}

/** Makes answers and throws them away: what is left is the cost of making them. */
async function repeat(
  { times, method, url, headers, body }: Repeated,
  env: Env,
): Promise<Response> {
  const { pathname } = new URL(url);
  const length = { "content-length": String(body.length) };
  const init =
    method === "POST"
      ? { method, headers: { ...headers, ...length }, body: new Uint8Array(body) }
      : { method, headers };
  for (let index = 0; index < times; index++) {
    const response = await answer(new Request(url, init), pathname, env);
    await response.body?.cancel();
  }
  return Response.json({ times });
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

/** Keeps the message that the stock routers encode for each request. */
function learnMessage(buffer: ArrayBuffer): Response {
  const bytes = new Uint8Array(buffer);
  const message = fromBinary(LocationsResponseSchema, bytes);
  learned = { message, bytes };
  return Response.json({ airports: message.airports.length });
}
