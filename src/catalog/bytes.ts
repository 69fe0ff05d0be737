import { Buffer } from "node:buffer";

/** One run of bytes out of several. */
export function concatenate(parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const whole = new Uint8Array(parts.reduce((length, part) => length + part.length, 0));
  let offset = 0;
  for (const part of parts) {
    whole.set(part, offset);
    offset += part.length;
  }
  return whole;
}

/**
 * Cuts a run of bytes that comes in pieces into others of `size` bytes each, the last one shorter.
 * Holds one of them at a time.
 */
export async function* inChunks(
  pieces: Iterable<Uint8Array> | AsyncIterable<Uint8Array>,
  size: number,
): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  let held: Uint8Array[] = [];
  let length = 0;
  for await (const piece of pieces)
    for (let at = 0; at < piece.length;) {
      const part = piece.subarray(at, at + size - length);
      held.push(part);
      length += part.length;
      at += part.length;
      if (length < size) continue;
      yield concatenate(held);
      held = [];
      length = 0;
    }
  if (length > 0) yield concatenate(held);
}

/**
 * Whether two runs of bytes are the same, in whatever pieces each of them comes. The first one is
 * read to its end in any case: who makes it may have more to do.
 */
export async function isSameRun(
  run: AsyncIterable<Uint8Array>,
  other: AsyncIterable<Uint8Array>,
): Promise<boolean> {
  const others = other[Symbol.asyncIterator]();
  let held: Uint8Array | undefined = new Uint8Array();
  let same = true;
  for await (const piece of run)
    for (let at = 0; same && at < piece.length;) {
      held = await filled(held, others);
      const length = Math.min(held?.length ?? 0, piece.length - at);
      same =
        held !== undefined && isSame(piece.subarray(at, at + length), held.subarray(0, length));
      held = held?.subarray(length);
      at += length;
    }
  return same && (await filled(held, others)) === undefined;
}

/** What is left of a piece, else the next that is not empty; undefined at the end. */
async function filled(
  held: Uint8Array | undefined,
  pieces: AsyncIterator<Uint8Array>,
): Promise<Uint8Array | undefined> {
  let piece = held;
  while (piece?.length === 0) {
    const next = await pieces.next();
    piece = next.done === true ? undefined : next.value;
  }
  return piece;
}

function isSame(a: Uint8Array, b: Uint8Array): boolean {
  return Buffer.from(a.buffer, a.byteOffset, a.length).equals(b);
}

/**
 * Gives the memory of bytes that nobody reads any more back at once: V8 lets up to 64 MB of buffers
 * lie before it looks for those, which is half of what an isolate may hold. They are empty from now
 * on, unless they are a part of a larger buffer.
 */
export function letGo({ buffer, length }: Uint8Array): void {
  if (buffer instanceof ArrayBuffer && length === buffer.byteLength) buffer.transfer(0);
}
