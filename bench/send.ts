import { once } from "node:events";
import { type IncomingMessage, request as httpRequest } from "node:http";
import { buffer } from "node:stream/consumers";
import type { LoadRequest } from "./load.ts";

/** An answer with its body as it was on the wire: `fetch` would decode it. */
export interface RawAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Buffer<ArrayBuffer>;
}

/** Asks a server on loopback, and reads its answer to the end. */
export async function send(
  port: number,
  { method, path, headers, body }: LoadRequest,
): Promise<RawAnswer> {
  const sent = httpRequest({ host: "127.0.0.1", port, method, path, headers });
  sent.end(method === "POST" ? body : undefined);
  const [response] = (await once(sent, "response")) as [IncomingMessage]; // the event's signature
  const fields = Object.entries(response.headersDistinct).flatMap(([name, values = []]) =>
    values.map((value): [string, string] => [name, value]),
  );
  return {
    status: response.statusCode ?? 0,
    headers: new Headers(fields),
    body: Buffer.from(await buffer(response)),
  };
}
