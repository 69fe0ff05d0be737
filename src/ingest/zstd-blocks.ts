/**
 * Reads the blocks of a Zstandard frame, and writes the sequences of a block anew (RFC 8878, sections
 * 3.1.1.2 to 3.1.1.4 and 4.1). The literals stay as they are. Pure: no clock, no I/O.
 */
import { concatenate } from "../catalog/bytes.ts";
import { COMPRESSED } from "../catalog/dcz.ts";
import {
  BackwardReader,
  BitWriter,
  DEFAULT_MODE,
  describeTable,
  floorLog2,
  FSE_MODE,
  makeTable,
  readDistribution,
  RLE_MODE,
  StateWriter,
  type Table,
  tableOfOne,
} from "./zstd-entropy.ts";

/** Takes some literals, then copies bytes from a distance. */
export interface Sequence {
  readonly literals: number;
  readonly bytes: number;
  readonly distance: number;
}

/** A block. */
export interface Block {
  /** `RAW`, `RLE` or `COMPRESSED`. */
  readonly type: number;
  /** Length of what it decodes to. */
  readonly bytes: number;
  /** Its content; the literals section alone if it is compressed. */
  readonly content: Uint8Array;
  /** Which kind of literals it has. */
  readonly literals: "plain" | "huffman" | "treeless";
  /** Description of the Huffman table after it. */
  readonly huffman: Uint8Array;
  readonly sequences: readonly Sequence[];
}

const RLE = 1;

/** Reads the blocks of the first frame, which is intact. Throws if it is cut off. */
export function readBlocks(frame: Uint8Array): Block[] {
  const blocks: Block[] = [];
  const history = [1, 4, 8];
  const known: Partial<Tables> = {};
  let huffman = new Uint8Array();
  for (let at = headerLength(frame), isLast = false; !isLast;) {
    const header = readNumber(frame, at, 3);
    const [type, size] = [(header >> 1) & 3, header >> 3];
    isLast = (header & 1) === 1;
    const content = frame.subarray(at + 3, at + 3 + (type === RLE ? 1 : size));
    at += 3 + content.length;
    if (at > frame.length || (type !== RLE && content.length < size))
      throw new Error("a Zstandard frame is cut off");
    if (type !== COMPRESSED) {
      blocks.push({ type, bytes: size, content, literals: "plain", huffman, sequences: [] });
      continue;
    }
    const { kind, count, end, table } = readLiterals(content);
    const sequences = readSequences(content, end, known, history);
    const copied = sequences.reduce((sum, { bytes }) => sum + bytes, 0);
    if (table) huffman = table;
    const section = { content: content.subarray(0, end), literals: kind, huffman };
    blocks.push({ type, bytes: count + copied, ...section, sequences });
  }
  return blocks;
}

/** Returns the length of a frame's header (section 3.1.1.1). */
function headerLength(frame: Uint8Array): number {
  const descriptor = frame[4] ?? 0;
  const isSingleSegment = (descriptor & 0x20) !== 0;
  const sizeBytes = [Number(isSingleSegment), 2, 4, 8][descriptor >> 6] ?? 0;
  return 5 + Number(!isSingleSegment) + ([0, 1, 2, 4][descriptor & 3] ?? 0) + sizeBytes;
}

function readNumber(bytes: Uint8Array, at: number, length: number): number {
  let value = 0;
  for (let index = length - 1; index >= 0; index--) value = value * 256 + (bytes[at + index] ?? 0);
  return value;
}

const HUFFMAN = 2;
const TREELESS = 3;

/** Bytes of the header and bits of each of the two sizes, by its format (section 3.1.1.3.1.1). */
const HUFFMAN_FORMATS = [
  { headerBytes: 3, sizeBits: 10 },
  { headerBytes: 3, sizeBits: 10 },
  { headerBytes: 4, sizeBits: 14 },
  { headerBytes: 5, sizeBits: 18 },
] as const;

/** Reads the literals section: its kind, the number of literals, where it ends, and its own table. */
function readLiterals(content: Uint8Array): {
  readonly kind: Block["literals"];
  readonly count: number;
  readonly end: number;
  readonly table?: Uint8Array<ArrayBuffer>;
} {
  const first = content[0] ?? 0;
  const [type, format] = [first & 3, (first >> 2) & 3];
  if (type < HUFFMAN) {
    const bytes = [1, 2, 1, 3][format] ?? 1;
    const count = readNumber(content, 0, bytes) >> (bytes === 1 ? 3 : 4);
    return { kind: "plain", count, end: bytes + (type === RLE ? 1 : count) };
  }
  const { headerBytes, sizeBits } = HUFFMAN_FORMATS[format] ?? HUFFMAN_FORMATS[0];
  const sizes = Math.floor(readNumber(content, 0, headerBytes) / 16);
  const count = sizes % 2 ** sizeBits;
  const end = headerBytes + Math.floor(sizes / 2 ** sizeBits);
  if (type === TREELESS) return { kind: "treeless", count, end };
  // Its first byte is the length of compressed weights, or the number of plain ones of four bits.
  const weights = content[headerBytes] ?? 0;
  const tableBytes = 1 + (weights < 128 ? weights : (weights - 126) >> 1);
  return {
    kind: "huffman",
    count,
    end,
    table: content.slice(headerBytes, headerBytes + tableBytes),
  };
}

/**
 * Gives the literals section of a treeless block the table that it needs. Returns null if no header
 * has room for the length.
 */
export function withTable({ content, huffman }: Block): Uint8Array | null {
  const format = ((content[0] ?? 0) >> 2) & 3;
  const { headerBytes, sizeBits } = HUFFMAN_FORMATS[format] ?? HUFFMAN_FORMATS[0];
  const count = Math.floor(readNumber(content, 0, headerBytes) / 16) % 2 ** sizeBits;
  const bytes = huffman.length + content.length - headerBytes;
  // The formats but the first mean four streams.
  const wider = HUFFMAN_FORMATS.findIndex(
    (known, index) => index >= format && Math.max(count, bytes) < 2 ** known.sizeBits,
  );
  if (wider < 0 || (format === 0 && wider > 0)) return null;
  const room = HUFFMAN_FORMATS[wider] ?? HUFFMAN_FORMATS[0];
  const sizes = (bytes * 2 ** room.sizeBits + count) * 16 + wider * 4 + HUFFMAN;
  const header = Array.from({ length: room.headerBytes }, (_, at) => Math.floor(sizes / 256 ** at));
  return concatenate([Uint8Array.from(header), huffman, content.subarray(headerBytes)]);
}

/** Extra bits of the codes of literals lengths and match lengths (section 3.1.1.3.2.1.1). */
const LITERALS_BITS = [
  0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 3, 3, 4, 6, 7, 8, 9, 10, 11, 12,
  13, 14, 15, 16,
];
const MATCH_BITS = [
  0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1,
  1, 1, 1, 2, 2, 3, 3, 4, 4, 5, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16,
];
const LITERALS_BASES = basesOf(LITERALS_BITS, 0);
const MATCH_BASES = basesOf(MATCH_BITS, 3);

/** Returns the lowest length of each code. */
function basesOf(bits: readonly number[], lowest: number): number[] {
  let base = lowest;
  return bits.map((count) => {
    const start = base;
    base += 2 ** count;
    return start;
  });
}

interface Tables {
  literals: Table;
  offset: Table;
  match: Table;
}

/** In the order of their descriptions, with the shift of their mode. */
const CODE_KINDS = [
  ["literals", 6],
  ["offset", 4],
  ["match", 2],
] as const;

/** The default distributions (section 3.1.1.3.2.2): logarithm of the number of states, and states of each code. */
const DEFAULTS = {
  literals: {
    log: 6,
    counts: [
      4, 3, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 1, 1, 1, 2, 2, 2, 2, 2, 2, 2, 2, 2, 3, 2, 1, 1, 1, 1,
      1, -1, -1, -1, -1,
    ],
  },
  offset: {
    log: 5,
    counts: [
      1, 1, 1, 1, 1, 1, 2, 2, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, -1, -1, -1, -1, -1,
    ],
  },
  match: {
    log: 6,
    counts: [
      1, 4, 3, 2, 2, 2, 2, 2, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
      1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, -1, -1, -1, -1, -1, -1, -1,
    ],
  },
} as const;

/** Returns the index of the last of rising numbers that is not above a value. */
export function lastAtMost(numbers: readonly number[], value: number): number {
  let [low, high] = [0, numbers.length];
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if ((numbers[middle] ?? 0) <= value) low = middle;
    else high = middle;
  }
  return low;
}

function readSequences(
  content: Uint8Array,
  start: number,
  known: Partial<Tables>,
  history: number[],
): Sequence[] {
  const { count, end } = readCountOfSequences(content, start);
  if (count === 0) return [];
  const modes = content[end] ?? 0;
  let at = end + 1;
  for (const [kind, shift] of CODE_KINDS) {
    const mode = (modes >> shift) & 3;
    if (mode === DEFAULT_MODE) known[kind] = makeTable(DEFAULTS[kind]);
    if (mode === RLE_MODE) known[kind] = tableOfOne(content[at++] ?? 0);
    if (mode !== FSE_MODE) continue;
    const described = readDistribution(content, at);
    known[kind] = makeTable(described.distribution);
    at = described.end;
  }
  const { literals, offset, match } = known;
  if (!literals || !offset || !match) throw new Error("a block repeats a table that no other has");
  return decodeSequences(content, count, { literals, offset, match }, history);
}

function readCountOfSequences(content: Uint8Array, start: number) {
  const first = content[start] ?? 0;
  if (first < 128) return { count: first, end: start + 1 };
  if (first < 255)
    return { count: ((first - 128) << 8) + (content[start + 1] ?? 0), end: start + 2 };
  return { count: readNumber(content, start + 1, 2) + 0x7f00, end: start + 3 };
}

function decodeSequences(
  content: Uint8Array,
  count: number,
  { literals, offset, match }: Tables,
  history: number[],
): Sequence[] {
  const reader = new BackwardReader(content);
  let ofLiterals = reader.read(literals.log);
  let ofOffset = reader.read(offset.log);
  let ofMatch = reader.read(match.log);
  const next = (table: Table, state: number) =>
    (table.bases[state] ?? 0) + reader.read(table.bits[state] ?? 0);
  const sequences: Sequence[] = [];
  for (let left = count; left > 0; left--) {
    const offsetCode = offset.codes[ofOffset] ?? 0;
    const value = 2 ** offsetCode + reader.read(offsetCode);
    const matchCode = match.codes[ofMatch] ?? 0;
    const bytes = (MATCH_BASES[matchCode] ?? 0) + reader.read(MATCH_BITS[matchCode] ?? 0);
    const literalsCode = literals.codes[ofLiterals] ?? 0;
    const taken =
      (LITERALS_BASES[literalsCode] ?? 0) + reader.read(LITERALS_BITS[literalsCode] ?? 0);
    sequences.push({ literals: taken, bytes, distance: distanceOf(value, taken, history) });
    if (left === 1) break;
    ofLiterals = next(literals, ofLiterals);
    ofMatch = next(match, ofMatch);
    ofOffset = next(offset, ofOffset);
  }
  return sequences;
}

/** Returns the distance that an offset value stands for, and keeps the history (section 3.1.1.5). */
function distanceOf(value: number, literals: number, history: number[]): number {
  if (value > 3) return remember(value - 3, history, 2);
  // Without literals, 1 and 2 are the second and the third distance, and 3 is the newest less one.
  const index = value - Number(literals > 0);
  const [newest = 0] = history;
  return index < 3
    ? remember(history[index] ?? 0, history, index)
    : remember(newest - 1, history, 2);
}

/** Puts a distance before the others, in place of the one at an index. */
function remember(distance: number, history: number[], index: number): number {
  history.splice(index, 1);
  history.unshift(distance);
  return distance;
}

/** A distance that is filled in later. */
interface OpenDistance {
  /** Number of bits that are left open: those of the distance plus 3, less one. */
  readonly bits: number;
}

/** A sequence to write. */
export interface OpenSequence<D extends OpenDistance> extends Omit<Sequence, "distance"> {
  readonly distance: number | D;
}

/** Where the bits of a distance begin, from the lowest of the first byte on. */
interface OpenBits<D extends OpenDistance> {
  readonly bit: number;
  readonly distance: D;
}

/** Writes the sequences of blocks. A frame has one for all its blocks. */
export class SequenceWriter<D extends OpenDistance> {
  /** The distances used last, newest first; none of another's. */
  #history: readonly (number | D | null)[] = [null, null, null];

  /** Encodes the sequences section of a block. The bits of distances that are filled in later are 0. */
  write(sequences: readonly OpenSequence<D>[]): {
    readonly bytes: Uint8Array;
    readonly open: readonly OpenBits<D>[];
  } {
    if (sequences.length === 0) return { bytes: Uint8Array.of(0), open: [] };
    const coded = sequences.map((sequence) => this.#encode(sequence));
    const literals = describeTable(coded.map(({ literalsCode }) => literalsCode));
    const offset = describeTable(coded.map(({ offsetCode }) => offsetCode));
    const match = describeTable(coded.map(({ matchCode }) => matchCode));
    const modes = (literals.mode << 6) | (offset.mode << 4) | (match.mode << 2);
    const writer = new BitWriter([
      ...encodeCount(sequences.length),
      modes,
      ...literals.bytes,
      ...offset.bytes,
      ...match.bytes,
    ]);
    // Decoders read from the end: the states of the first sequence come last.
    const states = [literals, match, offset].map(({ table }) => new StateWriter(table, writer));
    const [ofLiterals, ofMatch, ofOffset] = states;
    const open: OpenBits<D>[] = [];
    for (const [index, sequence] of [...coded.entries()].toReversed()) {
      ofOffset?.enter(sequence.offsetCode);
      ofMatch?.enter(sequence.matchCode);
      ofLiterals?.enter(sequence.literalsCode);
      writer.write(sequence.literals, LITERALS_BITS[sequence.literalsCode] ?? 0);
      writer.write(sequence.match, MATCH_BITS[sequence.matchCode] ?? 0);
      const distance = sequences[index]?.distance;
      if (sequence.offset === null && typeof distance === "object")
        open.push({ bit: writer.length, distance });
      writer.write(sequence.offset ?? 0, sequence.offsetCode);
    }
    ofMatch?.end();
    ofOffset?.end();
    ofLiterals?.end();
    writer.write(1, 1);
    return { bytes: writer.bytes(), open };
  }

  /** Returns the codes of a sequence with the values of their extra bits; null where they are open. */
  #encode({ literals, bytes, distance }: OpenSequence<D>) {
    const literalsCode = lastAtMost(LITERALS_BASES, literals);
    const matchCode = lastAtMost(MATCH_BASES, bytes);
    const value = this.#offsetValue(distance, literals);
    const bits = typeof distance === "object" ? distance.bits : 0;
    const offsetCode = value === null ? bits : floorLog2(value);
    return {
      literalsCode,
      literals: literals - (LITERALS_BASES[literalsCode] ?? 0),
      matchCode,
      match: bytes - (MATCH_BASES[matchCode] ?? 0),
      offsetCode,
      offset: value === null ? null : value - 2 ** offsetCode,
    };
  }

  /** Names a distance by its place in the history if it is there, and moves it to the front. */
  #offsetValue(distance: number | D, literals: number): number | null {
    const index = this.#history.indexOf(distance);
    // Without literals the newest cannot be named.
    const isNamed = index > 0 || (index === 0 && literals > 0);
    if (index !== 0 || !isNamed) {
      const others = this.#history.filter((_, at) => at !== (isNamed ? index : 2));
      this.#history = [distance, ...others];
    }
    if (isNamed) return index + Number(literals > 0);
    return typeof distance === "number" ? distance + 3 : null;
  }
}

function encodeCount(count: number): number[] {
  if (count < 128) return [count];
  if (count < 0x7f00) return [(count >> 8) + 128, count & 255];
  return [255, (count - 0x7f00) & 255, (count - 0x7f00) >> 8];
}
