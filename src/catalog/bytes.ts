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
