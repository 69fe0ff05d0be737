/** Field and wire type of `LocationsResponse.regions`, which is the last field. */
const REGIONS_TAG = (8 << 3) | 2;

/**
 * Follows the chunks of an answer in Protobuf. Returns a function that takes the next chunk, and
 * returns where the regions start, once they do: the bytes before them are a complete message.
 */
export function regionsFinder(): (chunk: Uint8Array) => number | undefined {
  let chunkBegins = 0;
  let at = 0;
  let tag: number | undefined;
  let length = 0;
  let shift = 0;
  return (chunk) => {
    for (; at < chunkBegins + chunk.length;) {
      const byte = chunk[at++ - chunkBegins] ?? 0;
      if (tag === undefined) {
        if (byte === REGIONS_TAG) return at - 1;
        tag = byte;
        continue;
      }
      length |= (byte & 0x7f) << shift;
      shift += 7;
      if (byte < 0x80) {
        at += length;
        [tag, length, shift] = [undefined, 0, 0];
      }
    }
    chunkBegins += chunk.length;
    return undefined;
  };
}
