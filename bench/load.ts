import { connect, type Socket } from "node:net";

/** A request as it goes over the wire, again and again. */
export interface LoadRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: { readonly [name: string]: string };
  readonly body: Uint8Array;
}

export interface LoadResult {
  readonly requests: number;
  /** From when it connects to the last answer. */
  readonly ms: number;
}

const HEAD_END = Buffer.from("\r\n\r\n");

/**
 * Sends one request over and over on several loopback connections, one at a time on each, for a bounded
 * time. Counts the answers by their length and does not parse them, because the server is to be
 * measured.
 *
 * @throws Error for an answer of another status.
 */
export async function load(
  port: number,
  request: LoadRequest,
  options: { readonly connections: number; readonly ms: number; readonly status: number },
): Promise<LoadResult> {
  const bytes = serialize(request);
  const startedAt = performance.now();
  const deadline = startedAt + options.ms;
  const counts = await Promise.all(
    Array.from({ length: options.connections }, () =>
      repeat(port, bytes, deadline, options.status),
    ),
  );
  const requests = counts.reduce((sum, count) => sum + count, 0);
  return { requests, ms: performance.now() - startedAt };
}

function serialize({ method, path, headers, body }: LoadRequest): Buffer {
  const lines = Object.entries({
    host: "127.0.0.1",
    ...headers,
    ...(method === "POST" && { "content-length": String(body.length) }),
  }).map(([name, value]) => `${name}: ${value}\r\n`);
  return Buffer.concat([Buffer.from(`${method} ${path} HTTP/1.1\r\n${lines.join("")}\r\n`), body]);
}

/** Bytes that a connection reads at a time, into a reused buffer. */
const READ_BYTES = 1024 * 1024;

function repeat(port: number, request: Buffer, deadline: number, status: number): Promise<number> {
  return new Promise((resolve, reject) => {
    const answers = new AnswerCounter(status);
    let count = 0;
    const read = (chunk: Buffer) => {
      if (!answers.add(chunk)) return;
      count++;
      if (performance.now() < deadline) socket.write(request);
      else finish(socket, () => resolve(count));
    };
    const onread = {
      buffer: Buffer.alloc(READ_BYTES),
      callback(length: number, buffer: Uint8Array) {
        try {
          read(Buffer.from(buffer.buffer, buffer.byteOffset, length));
        } catch (error) {
          reject(error instanceof Error ? error : new Error(String(error)));
        }
        return true;
      },
    };
    const socket = connect({ port, host: "127.0.0.1", noDelay: true, onread });
    socket.on("error", reject);
    socket.on("close", () => reject(new Error("the server closed the connection")));
    socket.on("connect", () => socket.write(request));
  });
}

function finish(socket: Socket, done: () => void): void {
  socket.removeAllListeners("close");
  socket.destroy();
  done();
}

/** Finds the end of each answer of a connection: by its length, or by its last chunk. */
class AnswerCounter {
  readonly #status: number;
  #head = Buffer.alloc(0);
  /** Bytes of the body that are still to come; undefined while the head is read. */
  #left: number | undefined;
  #chunkedTail: Buffer | undefined;

  constructor(status: number) {
    this.#status = status;
  }

  /** Takes bytes of the connection; true if they end an answer. */
  add(chunk: Buffer): boolean {
    if (this.#chunkedTail !== undefined) return this.#endsChunked(chunk);
    if (this.#left !== undefined) return this.#ends(chunk.length);
    this.#head = Buffer.concat([this.#head, chunk]);
    const end = this.#head.indexOf(HEAD_END);
    if (end < 0) return false;
    const head = this.#head.subarray(0, end).toString("latin1");
    const rest = this.#head.subarray(end + HEAD_END.length);
    this.#head = Buffer.alloc(0);
    if (!head.startsWith(`HTTP/1.1 ${this.#status} `)) throw new Error(head);
    if (/^transfer-encoding: *chunked/im.test(head)) {
      this.#chunkedTail = Buffer.alloc(0);
      return this.#endsChunked(rest);
    }
    this.#left = Number(/^content-length: *(\d+)/im.exec(head)?.[1] ?? 0);
    return this.#ends(rest.length);
  }

  #ends(length: number): boolean {
    this.#left = (this.#left ?? 0) - length;
    if (this.#left > 0) return false;
    this.#left = undefined;
    return true;
  }

  #endsChunked(chunk: Buffer): boolean {
    const tail = Buffer.concat([this.#chunkedTail ?? Buffer.alloc(0), chunk.subarray(-7)]).subarray(
      -7,
    );
    this.#chunkedTail = tail;
    if (tail.toString("latin1") !== "\r\n0\r\n\r\n") return false;
    this.#chunkedTail = undefined;
    return true;
  }
}
