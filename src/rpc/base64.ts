import { Buffer } from "node:buffer";

/** Bytes that are encoded at a time, a multiple of three. They bound the memory of a call. */
const SLICE_BYTES = 48 * 1024;

/** Encodes a stream of bytes in base64, with padding only at the end. */
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

/** A reader of bytes, with an option of the Streams Standard that `workers-types` lacks. */
interface ByteReader {
  read(
    into: Uint8Array<ArrayBuffer>,
    options: { readonly min: number },
  ): Promise<ReadableStreamReadResult<Uint8Array<ArrayBuffer>>>;
  cancel(): Promise<void>;
}

/** Reads into a separate buffer, because a stream of stored bytes otherwise gives 4 KiB at a time. */
async function* encode(stream: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array, undefined> {
  const reader: ByteReader = stream.getReader({ mode: "byob" });
  let buffer = new ArrayBuffer(SLICE_BYTES);
  let isPadded = false;
  try {
    for (;;) {
      const { value } = await reader.read(new Uint8Array(buffer), { min: SLICE_BYTES });
      if (value === undefined || value.length === 0) return undefined;
      if (isPadded) throw new Error("bytes follow the padding of base64");
      yield ascii(value);
      isPadded = value.length % 3 !== 0;
      ({ buffer } = value);
    }
  } finally {
    await reader.cancel();
  }
}

function ascii({ buffer, byteOffset, length }: Uint8Array): Uint8Array {
  return Buffer.from(Buffer.from(buffer, byteOffset, length).toString("base64"), "latin1");
}

export function base64Length(bytes: number): number {
  return 4 * Math.ceil(bytes / 3);
}
