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
 * Gives the memory of bytes that nobody reads any more back at once: V8 lets up to 64 MB of buffers
 * lie before it looks for those, which is half of what an isolate may hold. They are empty from now
 * on, unless they are a part of a larger buffer.
 */
export function letGo({ buffer, length }: Uint8Array): void {
  if (buffer instanceof ArrayBuffer && length === buffer.byteLength) buffer.transfer(0);
}
