/** The matcher of deltas. Pure: no clock, no I/O. */
import { type CopiedRange, MATCH_MIN_BYTES } from "./dcz.ts";

/** A match of twice this length contains one of the dictionary's chunks, wherever it starts. */
const CHUNK_BYTES = 64;
const FACTOR = 0x9e3779b1;
/** `FACTOR` to the power of `CHUNK_BYTES`, modulo 2^32. */
const OUTGOING = power(FACTOR, CHUNK_BYTES);
const TABLE_BITS = 17;

/**
 * Finds bytes that a target shares with a dictionary, by a rolling hash, in time linear to both. Finds
 * the long matches of two lists in one order of which little differs, but may miss other matches.
 */
export function findMatches(dictionary: Uint8Array, target: Uint8Array): CopiedRange[] {
  const chunks = indexChunks(dictionary);
  const matches: CopiedRange[] = [];
  let end = 0; // of the last match
  let shift = 0; // of the last match
  for (let at = 0; at + CHUNK_BYTES <= target.length;) {
    let hash = hashChunk(target, at);
    let match: CopiedRange | undefined;
    for (; match === undefined; at++) {
      const known = (chunks[hash >>> (32 - TABLE_BITS)] ?? 0) - 1;
      match =
        extend(dictionary, target, { from: at + shift, to: at, end }) ??
        (known < 0 ? undefined : extend(dictionary, target, { from: known, to: at, end }));
      const [first, next] = [target[at], target[at + CHUNK_BYTES]];
      if (first === undefined || next === undefined) break;
      hash = (Math.imul(hash, FACTOR) + next - Math.imul(first, OUTGOING)) | 0;
    }
    if (match === undefined) break;
    matches.push(match);
    shift = match.from - match.to;
    at = end = match.to + match.bytes;
  }
  return matches;
}

/** Offsets, plus one, of the dictionary's chunks by the first bits of their hashes. */
function indexChunks(dictionary: Uint8Array): Uint32Array {
  const chunks = new Uint32Array(1 << TABLE_BITS);
  for (let at = 0; at + CHUNK_BYTES <= dictionary.length; at += CHUNK_BYTES)
    chunks[hashChunk(dictionary, at) >>> (32 - TABLE_BITS)] = at + 1;
  return chunks;
}

function hashChunk(bytes: Uint8Array, start: number): number {
  let hash = 0;
  for (let at = start; at < start + CHUNK_BYTES; at++)
    hash = (Math.imul(hash, FACTOR) + (bytes[at] ?? 0)) | 0;
  return hash;
}

function power(base: number, exponent: number): number {
  let result = 1;
  for (let times = 0; times < exponent; times++) result = Math.imul(result, base);
  return result;
}

/** Extends a match to both sides, but not before `end` in the target; undefined if it is too short. */
function extend(
  dictionary: Uint8Array,
  target: Uint8Array,
  { from, to, end }: { from: number; to: number; end: number },
): CopiedRange | undefined {
  let after = 0;
  while (to + after < target.length && dictionary[from + after] === target[to + after]) after++;
  if (after < CHUNK_BYTES) return undefined;
  let before = 0;
  while (to - before > end && dictionary[from - before - 1] === target[to - before - 1]) before++;
  const bytes = before + after;
  return bytes < MATCH_MIN_BYTES ? undefined : { from: from - before, to: to - before, bytes };
}
