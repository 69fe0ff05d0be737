import { createHash } from "node:crypto";
import { once } from "node:events";
import { type IncomingHttpHeaders, type IncomingMessage, request as httpRequest } from "node:http";
import { buffer } from "node:stream/consumers";
import { inject } from "vitest";

/** Path of the service's one call. */
export const CALL = "/locations.v1.LocationsService/GetLocationsV1";

export interface Sent {
  readonly method?: string;
  readonly path?: string;
  readonly headers?: { readonly [name: string]: string };
  readonly body?: string | Uint8Array;
}

/** An answer with its body as it came over the wire. */
export interface Answer {
  readonly status: number | undefined;
  readonly headers: IncomingHttpHeaders;
  /** Trailers of HTTP, which the service never sends. */
  readonly trailers: readonly string[];
  readonly body: Buffer;
}

/** Sends a request with these headers and no others, apart from those of the connection. */
export async function send(sent: Sent): Promise<Answer> {
  const request = httpRequest({
    host: "127.0.0.1",
    port: inject("service").port,
    path: sent.path ?? CALL,
    method: sent.method ?? "POST",
    headers: { ...sent.headers },
  });
  request.end(sent.body);
  const [response] = (await once(request, "response")) as [IncomingMessage]; // the event's signature
  const body = await buffer(response);
  return {
    status: response.statusCode,
    headers: response.headers,
    trailers: response.rawTrailers,
    body,
  };
}

export function sha256(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}
