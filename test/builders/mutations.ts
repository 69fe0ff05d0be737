/** Arbitrary damage to bytes and texts. */
import fc from "fast-check";

type Bytes = Uint8Array<ArrayBuffer>;

/** The same bytes with up to three of: a byte changed, a piece taken out, doubled or put in, the end cut off. */
export function mutatedBytes(bytes: Uint8Array): fc.Arbitrary<Bytes> {
  return fc.array(mutation(), { maxLength: 3 }).map((mutations) => {
    let mutated = new Uint8Array(bytes);
    for (const mutate of mutations) mutated = mutate(mutated);
    return mutated;
  });
}

type Mutation = (bytes: Bytes) => Bytes;

/** A place in bytes of any length, as a share of them. */
const place = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });

function mutation(): fc.Arbitrary<Mutation> {
  const piece = fc.oneof(
    fc.uint8Array({ minLength: 1, maxLength: 8 }),
    fc
      .constantFrom("\0", '"', '""', ",", "\n", "\r\n", "\r", "\ufeff", "{", "}", "[", "null", "é")
      .map((text) => new TextEncoder().encode(text)),
  );
  const at = (bytes: Uint8Array, share: number) => Math.floor(bytes.length * share);
  return fc.oneof(
    fc.tuple(place, fc.integer({ min: 1, max: 255 })).map(
      ([share, bits]): Mutation =>
        (bytes) =>
          bytes.map((byte, index) => (index === at(bytes, share) ? byte ^ bits : byte)),
    ),
    fc.tuple(place, piece).map(
      ([share, put]): Mutation =>
        (bytes) =>
          joined(bytes.slice(0, at(bytes, share)), put, bytes.slice(at(bytes, share))),
    ),
    fc.tuple(place, fc.integer({ min: 1, max: 200 })).map(
      ([share, length]): Mutation =>
        (bytes) =>
          joined(bytes.slice(0, at(bytes, share)), bytes.slice(at(bytes, share) + length)),
    ),
    fc.tuple(place, fc.integer({ min: 1, max: 200 })).map(
      ([share, length]): Mutation =>
        (bytes) =>
          joined(bytes.slice(0, at(bytes, share) + length), bytes.slice(at(bytes, share))),
    ),
    place.map(
      (share): Mutation =>
        (bytes) =>
          bytes.slice(0, at(bytes, share)),
    ),
  );
}

/** One run of bytes out of several. */
export function joined(...parts: readonly Uint8Array[]): Bytes {
  return new Uint8Array(Buffer.concat(parts));
}
