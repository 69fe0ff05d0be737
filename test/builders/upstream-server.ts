/** A real HTTP server on loopback that serves upstream files, well or badly. */
import { once } from "node:events";
import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { setTimeout as delay } from "node:timers/promises";
import { createGzip, gzipSync } from "node:zlib";

export interface UpstreamRequest {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
}

/** Answers one request. */
export type Behavior = (request: UpstreamRequest, response: ServerResponse) => Promise<void> | void;

/** Header values; undefined for none. */
type Headers = { readonly [name: string]: string | number | undefined };

export class UpstreamServer {
  /** The requests, in order. */
  readonly requests: UpstreamRequest[] = [];
  readonly #server = createServer((request, response) => {
    const asked = { path: request.url ?? "", headers: request.headers };
    this.requests.push(asked);
    void this.#next(asked.path)(asked, response);
  });
  readonly #behaviors = new Map<string, Behavior[]>();

  static async start(): Promise<UpstreamServer> {
    const started = new UpstreamServer();
    await started.listen();
    return started;
  }

  /** Listens on an unused port. */
  async listen(): Promise<void> {
    this.#server.listen(0, "127.0.0.1");
    await once(this.#server, "listening");
  }

  /** Answers the requests for a path, each with the next behavior; the last one goes on. */
  on(path: string, ...behaviors: readonly Behavior[]): void {
    this.#behaviors.set(path, [...behaviors]);
  }

  /** Such as `127.0.0.1:40123`. */
  get host(): string {
    return `127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  url(path: string): string {
    return `http://${this.host}${path}`;
  }

  /** The paths that were asked for, in order. */
  get paths(): string[] {
    return this.requests.map(({ path }) => path);
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, "close");
  }

  #next(path: string): Behavior {
    const behaviors = this.#behaviors.get(path) ?? [];
    const next = behaviors.length > 1 ? behaviors.shift() : behaviors[0];
    return next ?? status(404);
  }
}

/** Serves a file, and answers 304 to who has this version of it. */
export function file(content: string | Uint8Array, headers: Headers = {}): Behavior {
  const { etag, "last-modified": lastModified } = headers;
  return (request, response) => {
    const { "if-none-match": known, "if-modified-since": since } = request.headers;
    const isKnown =
      known === undefined
        ? since !== undefined && since === lastModified
        : etag !== undefined && known === etag;
    setHeaders(response, { "content-type": "text/csv", ...headers });
    if (isKnown) response.writeHead(304).end();
    else response.end(content);
  };
}

/** Serves a file as most hosts do: with the content coding gzip, where it is accepted. */
export function compressedFile(content: string, headers: Headers = {}): Behavior {
  const compressed = gzipSync(content);
  const asGzip = file(compressed, {
    ...headers,
    "content-encoding": "gzip",
    "content-length": compressed.length,
  });
  return (request, response) =>
    String(request.headers["accept-encoding"]).includes("gzip")
      ? asGzip(request, response)
      : file(content, headers)(request, response);
}

/** Answers a status with nothing but headers and a page. */
export function status(code: number, headers: Headers = {}): Behavior {
  return (_, response) => {
    setHeaders(response, { "content-type": "text/html", ...headers });
    response.writeHead(code).end("<html>sorry</html>");
  };
}

export function redirect(location: string | undefined, code = 302): Behavior {
  return status(code, { location });
}

/** Sends the start of a file under a Content-Length that promises `announced` bytes, and hangs up. */
export function cutShort(start: string, announced: number): Behavior {
  return async (_, response) => {
    response.setHeader("content-length", announced);
    await flush(response, start);
    response.destroy();
  };
}

/** Sends the start of a file without a Content-Length, and resets the connection. */
export function reset(start: string): Behavior {
  return async (_, response) => {
    await flush(response, start);
    response.socket?.resetAndDestroy();
  };
}

/** Hangs up before it answers anything. */
export const hangUp: Behavior = (_, response) => {
  response.socket?.destroy();
};

/** Answers nothing, and leaves the connection open. */
export const silence: Behavior = () => {};

/** Sends the start of a file, and then nothing more. */
export function stall(start: string): Behavior {
  return async (_, response) => flush(response, start);
}

/** Sends a byte before every pause, without end. */
export function drip(pauseMs: number): Behavior {
  return async (_, response) => {
    while (!response.destroyed) {
      response.write("x");
      await delay(pauseMs);
    }
  };
}

/** Sends as fast as it is read, without end; gzip makes a bomb of it. */
export function endless({ gzip = false }: { readonly gzip?: boolean } = {}): Behavior {
  return async (_, response) => {
    const source = Readable.from(pieces());
    if (!gzip) return hungUp(pipeline(source, response));
    response.setHeader("content-encoding", "gzip");
    return hungUp(pipeline(source, createGzip(), response));
  };
}

function* pieces(): Generator<Uint8Array> {
  const piece = Buffer.alloc(64 * 1024, "1,2,3\n");
  for (;;) yield piece;
}

/** An endless answer ends when the client hangs up. */
async function hungUp(answer: Promise<void>): Promise<void> {
  await answer.catch(() => {});
}

/** Ends the connection after raw bytes, which need not be HTTP. */
export function raw(text: string): Behavior {
  return (_, response) => {
    response.socket?.end(text);
  };
}

function setHeaders(response: ServerResponse, headers: Headers): void {
  for (const [name, value] of Object.entries(headers))
    if (value !== undefined) response.setHeader(name, value);
}

/** Sends, and waits long enough for the client to have it before anything else happens. */
async function flush(response: ServerResponse, text: string): Promise<void> {
  await new Promise<void>((resolve) => {
    response.write(text, () => resolve());
  });
  await delay(20);
}
