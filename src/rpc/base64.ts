import { Buffer } from "node:buffer";
import { concatenate } from "../catalog/bytes.ts";

/** Bytes that are encoded at a time, a multiple of three. They bound the memory of a call. */
const SLICE_BYTES = 48 * 1024;

/** Encodes a stream in base64, with padding only at the end. */
export function toBase64(stream: ReadableStream<Uint8Array>): ReadableStream<Uint8Array> {
  const slices = encode(stream);
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { done, value } = await slices.next();
      if (done) controller.close();
      else controller.enqueue(value);
    },
    async cancel() {
      await slices.return(undefined);
    },
  });
}

async function* encode(stream: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array, undefined> {
  let rest = new Uint8Array();
  for await (const chunk of stream)
    for (let at = 0; at < chunk.length; at += SLICE_BYTES) {
      const bytes = concatenate([rest, chunk.subarray(at, at + SLICE_BYTES)]);
      const end = bytes.length - (bytes.length % 3);
      if (end > 0) yield ascii(bytes.subarray(0, end));
      rest = bytes.slice(end);
    }
  if (rest.length > 0) yield ascii(rest);
  return undefined;
}

function ascii({ buffer, byteOffset, length }: Uint8Array): Uint8Array {
  return Buffer.from(Buffer.from(buffer, byteOffset, length).toString("base64"), "latin1");
}

export function base64Length(bytes: number): number {
  return 4 * Math.ceil(bytes / 3);
}
