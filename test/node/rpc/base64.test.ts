import fc from "fast-check";
import { expect, it } from "vitest";
import { base64Length, toBase64 } from "../../../src/rpc/base64.ts";

/** A stream that gives its chunks one by one, and counts those that were taken. */
function streamOf(chunks: readonly Uint8Array[]) {
  const counted = { taken: 0, cancelled: false };
  const stream = new ReadableStream({
    type: "bytes",
    pull(controller) {
      const chunk = chunks[counted.taken++];
      if (chunk !== undefined) return controller.enqueue(Uint8Array.from(chunk));
      controller.close();
      controller.byobRequest?.respond(0);
    },
    cancel() {
      counted.cancelled = true;
    },
  });
  return { counted, stream };
}

it("encodes what a stream gives as one text, however it is cut, with padding only at its end", async () => {
  const chunks = fc.array(fc.uint8Array({ minLength: 1, maxLength: 200 }), { maxLength: 8 });
  await fc.assert(
    fc.asyncProperty(chunks, async (parts) => {
      const whole = Buffer.concat(parts);
      const text = await new Response(toBase64(streamOf(parts).stream)).text();
      expect(text).toBe(whole.toString("base64"));
      expect(text.length).toBe(base64Length(whole.length));
    }),
  );
});

it("encodes a long chunk in slices, of which it holds one at a time", async () => {
  const long = new Uint8Array(1_000_000).map((_, index) => index % 251);
  const sizes: number[] = [];
  const texts: string[] = [];
  for await (const slice of toBase64(streamOf([long.subarray(0, 5), long.subarray(5)]).stream)) {
    sizes.push(slice.length);
    texts.push(Buffer.from(slice).toString());
  }
  expect(Math.max(...sizes)).toBeLessThanOrEqual(65_540);
  expect(texts.join("")).toBe(Buffer.from(long).toString("base64"));
});

it("takes no more than the client reads, and leaves the stream when the client leaves", async () => {
  const chunks = Array.from({ length: 100 }, () => new Uint8Array(30_000));
  const { counted, stream } = streamOf(chunks);
  const reader = toBase64(stream).getReader();
  await reader.read();
  expect(counted.taken).toBeLessThan(8);
  await reader.cancel();
  expect(counted.cancelled).toBe(true);
});
