import { connect } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { inject } from "vitest";
import { CALL } from "./http.ts";

/** The answer over a socket. */
export interface RawAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Buffer;
}

/** The head of a POST with these header lines. */
export function postHead(...lines: readonly string[]): string {
  return [`POST ${CALL} HTTP/1.1`, "Host: localhost", ...lines, "", ""].join("\r\n");
}

/** Parts of a body as chunks (RFC 9112, section 7.1), without the last one. */
export function chunks(parts: readonly Uint8Array[]): Buffer[] {
  return parts.map((piece) =>
    Buffer.concat([Buffer.from(`${piece.length.toString(16)}\r\n`), piece, Buffer.from("\r\n")]),
  );
}

export const LAST_CHUNK = "0\r\n\r\n";

/** Cuts bytes into pieces of at most `length`. */
export function pieces(bytes: Uint8Array, length: number): Uint8Array[] {
  return Array.from({ length: Math.ceil(bytes.length / length) }, (_, i) =>
    bytes.subarray(i * length, (i + 1) * length),
  );
}

/**
 * Writes the parts one after the other, each in a packet of its own, and keeps the connection open
 * until an answer is complete.
 */
export async function converse(parts: readonly (string | Uint8Array)[]): Promise<RawAnswer> {
  const socket = connect({ host: "127.0.0.1", port: inject("service").port, noDelay: true });
  const answer = new Promise<RawAnswer>((resolve, reject) => {
    let received = Buffer.alloc(0);
    socket.on("data", (bytes) => {
      received = Buffer.concat([received, bytes]);
      const parsed = parseAnswer(received);
      if (parsed !== undefined) resolve(parsed);
    });
    socket.on("error", reject);
    socket.on("close", () => reject(new Error(`closed after ${received.toString()}`)));
  });
  try {
    return await Promise.race([answer, writeAll(socket, parts).then(() => answer)]);
  } finally {
    socket.destroy();
  }
}

async function writeAll(
  socket: ReturnType<typeof connect>,
  parts: readonly (string | Uint8Array)[],
): Promise<void> {
  for (const part of parts) {
    if (socket.destroyed) return;
    socket.write(part);
    await sleep(5);
  }
}

function parseAnswer(received: Buffer): RawAnswer | undefined {
  const end = received.indexOf("\r\n\r\n");
  if (end === -1) return undefined;
  const [statusLine = "", ...lines] = received.subarray(0, end).toString().split("\r\n");
  const headers = new Headers(
    lines.map((line) => [line.slice(0, line.indexOf(":")), line.slice(line.indexOf(":") + 1)]),
  );
  const body = contentOf(headers, received.subarray(end + 4));
  return body && { status: Number(statusLine.split(" ")[1]), headers, body };
}

/** The content of an answer, of a length or in chunks; undefined before it is complete. */
function contentOf(headers: Headers, received: Buffer): Buffer | undefined {
  if (headers.get("transfer-encoding") === "chunked") return joinChunks(received);
  const length = Number(headers.get("content-length") ?? Infinity);
  return received.length < length ? undefined : received;
}

/** Joins chunks; undefined before the last one has come. */
function joinChunks(received: Buffer): Buffer | undefined {
  const parts: Buffer[] = [];
  for (let at = 0; ;) {
    const start = received.indexOf("\r\n", at) + 2;
    const end = start + Number.parseInt(received.subarray(at, start).toString(), 16);
    if (start < 2 || received.length < end + 2) return undefined;
    if (start === end) return Buffer.concat(parts);
    parts.push(received.subarray(start, end));
    at = end + 2;
  }
}
