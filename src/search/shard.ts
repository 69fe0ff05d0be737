/**
 * What places are found by, in shards by the first letter: static assets, which
 * `web/build/suggestions.ts` makes, and which are read where they lie. Pure.
 *
 * A shard is the length of its nodes (u32), the nodes, and a line of JSON for each extra. The nodes are a
 * trie. Each is a byte of two flags and the length of its letters, the letters in UTF-8, its hits behind
 * their length, unless they are those of the node above, and its children behind theirs. A text that
 * ends within the letters has the hits of the node. Numbers are little-endian, as Workers are.
 */
import type { Suggestion } from "../../client/src/suggestion.ts";
import { Lines } from "./lines.ts";

/** A text leads to so many hits at most. */
export const HITS_MAX = 8;
export const LETTERS_MAX = 63;
export const HAS_CHILDREN = 64;
export const HAS_HITS = 128;
/** A hit has 16 bits: the position of the place, as the package's search has it, and two flags. */
export const POSITIONS_MAX = 0x4000;
/** Of an airport: that it is listed under its city. Of a city: that all its airports are. */
export const IS_UNDER_CITY = 0x4000;
/** The position of an extra follows. */
export const HAS_EXTRA = 0x8000;

export interface Hit {
  readonly position: number;
  readonly isUnderCity: boolean;
  /** What the text adds to the place. */
  readonly extra: Pick<Suggestion, "replaces" | "near">;
}

/** Chinese characters, from here on, share a shard with 255 others. */
const SHARED_FROM = 0x3400;

/** The shard of texts that begin as this one. */
export function shardOf(text: string): string {
  const letter = text.codePointAt(0) ?? 0;
  return (letter < SHARED_FROM ? letter : letter & ~0xff).toString(16);
}

export function shardPath(shard: string): string {
  return `search/suggestions/${shard}.bin`;
}

/** Finds the hits of a folded text, best first; none unless something that places are found by begins so. */
export function hitsIn(shard: ArrayBuffer, text: string): Hit[] {
  const nodeBytes = new DataView(shard).getUint32(0, true);
  const bytes = storedHits(new Uint8Array(shard, 4, nodeBytes), new TextEncoder().encode(text));
  const extras = new Lines(new Uint8Array(shard, 4 + nodeBytes));
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const hits: Hit[] = [];
  for (let at = 0; at < bytes.length; at += 2) {
    const hit = view.getUint16(at, true);
    const extra = hit & HAS_EXTRA ? extras.at(view.getUint16((at += 2), true)) : "{}";
    hits.push({
      position: hit % POSITIONS_MAX,
      isUnderCity: (hit & IS_UNDER_CITY) !== 0,
      extra: JSON.parse(extra),
    });
  }
  return hits;
}

/** Finds the hits of the last node on the way of some letters that has any. */
function storedHits(nodes: Uint8Array, letters: Uint8Array): Uint8Array {
  const none = nodes.subarray(0, 0);
  let hits = none;
  let [at, end, known] = [0, nodes.length, 0];
  const readSize = (): number => {
    let size = 0;
    for (;;) {
      const byte = nodes[at++] ?? 0;
      size = size * 128 + (byte % 128);
      if (byte < 128) return size;
    }
  };
  while (known < letters.length) {
    if (at >= end) return none;
    const head = nodes[at++] ?? 0;
    const lettersEnd = at + (head & LETTERS_MAX);
    let next = known;
    while (at < lettersEnd && next < letters.length && nodes[at] === letters[next]) {
      at++;
      next++;
    }
    const isOnTheWay = at === lettersEnd || next === letters.length;
    at = lettersEnd;
    const hitBytes = head & HAS_HITS ? readSize() : 0;
    if (isOnTheWay && head & HAS_HITS) hits = nodes.subarray(at, at + hitBytes);
    at += hitBytes;
    const childBytes = head & HAS_CHILDREN ? readSize() : 0;
    if (isOnTheWay) [known, end] = [next, at + childBytes];
    else at += childBytes;
  }
  return hits;
}
