/**
 * The doors that are measured in one run on the same bytes:
 *
 * - the service itself, at its own paths;
 * - `/constant/…`: what the service answered once, as constant bytes: the limit;
 * - `/stock/…`: Connect's router with the message in memory, which it encodes for each request;
 * - `/phase/…`: one part of an ingest at a time, timed from outside, where the clock runs.
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

export { AlertMonitor, BackupCoordinator, IngestCoordinator } from "../src/worker.ts";

interface Constant {
  readonly status: number;
  readonly headers: Headers;
  readonly bytes: ArrayBuffer | null;
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
const stock = new Map(router.handlers.map((handler) => [`/stock${handler.requestPath}`, handler]));

export default {
  async fetch(request, env) {
    const url = new URL(request.url);
    const { pathname } = url;
    if (pathname === "/learn-message") return learnMessage(await request.arrayBuffer());
    if (pathname.startsWith("/learn/")) return learn(request, pathname, env);
    if (pathname === "/repeat") return repeat(await request.json(), env);
    if (pathname.startsWith("/phase/"))
      return Response.json(await runPhase(pathname.slice("/phase/".length), url.searchParams));
    return answer(request, pathname, env);
  },
} satisfies ExportedHandler<Env>;

/** Answers by one of the three that are compared. */
async function answer(
  request: Parameters<typeof service.fetch>[0],
  pathname: string,
  env: Env,
): Promise<Response> {
  const constant = constants.get(pathname);
  if (constant !== undefined)
    return new Response(constant.bytes, { ...constant, encodeBody: "manual" });
  const handler = stock.get(pathname);
  if (handler !== undefined)
    return universalServerResponseToFetch(
      await handler(universalServerRequestFromFetch(request, {})),
    );
  return service.fetch(request, env);
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
  const init = { method, headers, ...(method === "POST" && { body: new Uint8Array(body) }) };
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
  const learned = await service.fetch(
    new Request(url, { method: request.method, headers: request.headers, body: request.body }),
    env,
  );
  const bytes = learned.body === null ? null : await learned.arrayBuffer();
  const name = pathname.slice("/learn/".length);
  constants.set(`/constant/${name}`, { status: learned.status, headers: learned.headers, bytes });
  return Response.json({ status: learned.status, bytes: bytes?.byteLength ?? 0 });
}

/** Keeps the message that the stock router encodes for each request. */
function learnMessage(bytes: ArrayBuffer): Response {
  message = fromBinary(LocationsResponseSchema, new Uint8Array(bytes));
  return Response.json({ airports: message.airports.length });
}
