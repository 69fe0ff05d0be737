import { once } from "node:events";
import {
  type ClientRequest,
  createServer,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from "node:http";
import { Agent, request as httpsRequest } from "node:https";
import { pipeline } from "node:stream/promises";

/** Miniflare's paths, which read and change the stores without a token. */
const MINIFLARE_PATH = /^\/+(?:cdn-cgi(?:\/|$)|__)/;
/** Headers of one connection, and those with which Miniflare would route to another path. */
const NOT_FORWARDED = /^(?:connection|expect|keep-alive|upgrade|mf-.*)$/i;

const BODY_MAX_BYTES = 32 * 1024;
/** workerd closes a connection that is idle for five seconds. */
const AGENT = new Agent({ keepAlive: true, timeout: 1_000 });

/**
 * Forwards requests to the Worker, wherever it runs at the moment, and none to Miniflare.
 *
 * @param findWorker settles once the Worker can be called; rejects if it does not run.
 */
export function createWorkerProxy(findWorker: () => Promise<URL>): Server {
  return createServer((request, response) => {
    const target = request.url ?? "/";
    const host = `http://${request.headers.host ?? "127.0.0.1"}`;
    const url = URL.parse(target.startsWith("/") ? host + target : target);
    if (url === null) return answer(response, 400, "The URL is malformed.");
    if (MINIFLARE_PATH.test(url.pathname))
      return answer(response, 404, "The routes of the development server are closed.");
    forward(request, response, url, findWorker).catch((error: unknown) => {
      // An answer that has started can only be cut off.
      if (response.headersSent) return void response.destroy();
      answer(response, 503, error instanceof Error ? error.message : String(error));
    });
  });
}

function answer(response: ServerResponse, status: number, text: string): void {
  response.writeHead(status, { "content-type": "text/plain; charset=utf-8" }).end(`${text}\n`);
}

async function forward(
  request: IncomingMessage,
  response: ServerResponse,
  url: URL,
  findWorker: () => Promise<URL>,
): Promise<void> {
  const { hostname, port } = await findWorker();
  const forwarded = httpsRequest({
    hostname,
    port,
    method: request.method,
    path: url.pathname + url.search,
    headers: [...forwardedHeaders(request), "MF-Original-URL", url.href],
    agent: AGENT,
    rejectUnauthorized: false,
  });
  // Also after the answer, because the Worker may refuse a body that is still being sent.
  forwarded.on("error", () => {});
  response.on("close", () => {
    forwarded.destroy();
    // The caller may still be sending.
    request.resume();
  });
  sendBody(request, forwarded);
  const [answered] = (await once(forwarded, "response")) as [IncomingMessage]; // the event's signature
  response.writeHead(answered.statusCode ?? 502, forwardedHeaders(answered));
  await pipeline(answered, response);
}

/**
 * Sends only the part of a body that causes its refusal: every route refuses more than 16 KiB, and
 * workerd closes a connection on which more arrives, so that its answer could be lost.
 */
function sendBody(request: IncomingMessage, forwarded: ClientRequest): void {
  let left = BODY_MAX_BYTES;
  request.on("end", () => forwarded.end());
  request.on("data", (chunk: Buffer) => {
    if (left <= 0) return;
    forwarded.write(chunk.subarray(0, left));
    left -= chunk.length;
    if (left <= 0) request.pause();
  });
}

/** Names and values in turn. */
function forwardedHeaders({ rawHeaders }: IncomingMessage): string[] {
  return rawHeaders.flatMap((name, index) =>
    index % 2 === 1 || NOT_FORWARDED.test(name) ? [] : [name, rawHeaders[index + 1] ?? ""],
  );
}
