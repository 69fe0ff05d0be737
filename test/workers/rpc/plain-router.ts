import { brotliDecompressSync, gunzipSync } from "node:zlib";
import { type ConnectRouterOptions, createConnectRouter } from "@connectrpc/connect";
import {
  universalServerRequestFromFetch,
  universalServerResponseToFetch,
} from "@connectrpc/connect/protocol";
import { LocationsService } from "../../../gen/locations/v1/locations_pb.ts";
import type { RpcHandler } from "../../../src/rpc/handler.ts";
import { ROUTER_OPTIONS } from "../../../src/rpc/router-options.ts";
import { createLocationsService } from "../../../src/rpc/service.ts";
import type { FakeCatalogReader } from "../../builders/fake-catalog-reader.ts";
import { bytesOf } from "./requests.ts";

/** Connect's router as any server has it. */
export function plainRouter(
  reader: FakeCatalogReader,
  options: ConnectRouterOptions = {},
): RpcHandler {
  const service = createLocationsService({ reader, defaultLocale: "en" }, () => undefined);
  const router = createConnectRouter({ ...ROUTER_OPTIONS, ...options }).service(
    LocationsService,
    service,
  );
  const handlers = new Map(router.handlers.map((handler) => [handler.requestPath, handler]));
  return async (request) => {
    const handler = handlers.get(new URL(request.url).pathname);
    if (handler === undefined) return new Response(null, { status: 404 });
    return universalServerResponseToFetch(
      await handler(universalServerRequestFromFetch(request, {})),
    );
  };
}

/** Headers that the handler adds to the router's on purpose. */
const ADDED = [
  "access-control-allow-origin",
  "access-control-expose-headers",
  "accept-post",
  "allow",
  "cache-control",
  "catalog-sha256",
  "catalog-version",
  "content-language",
  "etag",
  "last-modified",
  "locale-fallback",
  "vary",
];

/** What of an answer must be the router's: its bytes once decoded, and headers without ours. */
export async function essenceOf(response: Response): Promise<unknown> {
  const sent = await bytesOf(response);
  const headers = new Map(response.headers);
  for (const name of ADDED) headers.delete(name);
  const body = decoded(headers.get("content-encoding"), sent);
  const length = headers.get("content-length") ?? String(sent.byteLength);
  for (const name of ["content-encoding", "content-length"]) headers.delete(name);
  return {
    status: response.status,
    headers,
    body: Buffer.from(body).toString("latin1"),
    announcesItsLength: length === String(sent.byteLength),
  };
}

function decoded(coding: string | undefined, sent: Uint8Array): Uint8Array {
  if (coding === "gzip") return gunzipSync(sent);
  return coding === "br" ? brotliDecompressSync(sent) : sent;
}
