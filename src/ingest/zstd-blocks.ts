/**
 * Reads the blocks of a Zstandard frame, and writes the sequences of a block anew (RFC 8878, sections
 * 3.1.1.2 to 3.1.1.4 and 4.1). The literals stay as they are. Pure: no clock, no I/O.
 */
import { concatenate } from "../catalog/bytes.ts";
import { COMPRESSED } from "../catalog/dcz.ts";

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

/** Reads the blocks of the first frame. The frame must be intact. */
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

/** Finite-state entropy coding of one of the three kinds of codes (section 4.1). */
interface Table {
  /** Number of bits of a state. */
  readonly log: number;
  /** By state: its code, and the states that follow: `bits` bits are added to `base`. */
  readonly codes: ArrayLike<number>;
  readonly bits: ArrayLike<number>;
  readonly bases: ArrayLike<number>;
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

const DEFAULT_MODE = 0;
const RLE_MODE = 1;
const FSE_MODE = 2;

function makeTable({ log, counts }: Distribution): Table {
  const size = 1 << log;
  const codes = new Uint8Array(size);
  let high = size - 1;
  for (const [code, count] of counts.entries()) if (count === -1) codes[high--] = code;
  const step = (size >> 1) + (size >> 3) + 3;
  let position = 0;
  for (const [code, count] of counts.entries())
    for (let times = 0; times < count; times++) {
      codes[position] = code;
      do position = (position + step) & (size - 1);
      while (position > high);
    }
  const next = counts.map((count) => Math.abs(count));
  const [bits, bases] = [new Uint8Array(size), new Uint16Array(size)];
  for (const [state, code] of codes.entries()) {
    const value = next[code] ?? 0;
    next[code] = value + 1;
    const count = log - floorLog2(value);
    bits[state] = count;
    bases[state] = (value << count) - size;
  }
  return { log, codes, bits, bases };
}

/** How many states each code has; -1 stands for less than one. */
interface Distribution {
  readonly log: number;
  readonly counts: readonly number[];
}

/** A table of one code. */
function tableOfOne(code: number): Table {
  return { log: 0, codes: [code], bits: [0], bases: [0] };
}

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

export function floorLog2(value: number): number {
  return 31 - Math.clz32(value);
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

/** Reads the description of a table (section 4.1.1). */
function readDistribution(bytes: Uint8Array, start: number) {
  const reader = new ForwardReader(bytes, start);
  const log = reader.read(4) + 5;
  const counts: number[] = [];
  let left = (1 << log) + 1;
  for (let isAfterZero = false; left > 1;) {
    if (isAfterZero)
      for (let repeats = 3; repeats === 3;) {
        repeats = reader.read(2);
        for (let times = 0; times < repeats; times++) counts.push(0);
      }
    const count = readCount(reader, left) - 1;
    counts.push(count);
    left -= Math.abs(count);
    isAfterZero = count === 0;
  }
  return { distribution: { log, counts }, end: reader.end() };
}

/** Reads a value from 0 to `most`. The lowest take a bit less. */
function readCount(reader: ForwardReader, most: number): number {
  const { bits, short } = widthOf(most);
  const low = reader.read(bits - 1);
  if (low < short) return low;
  const value = low + (reader.read(1) << (bits - 1));
  return value >= 1 << (bits - 1) ? value - short : value;
}

/** Returns the bits of a value from 0 to `most`, and how many of the lowest take a bit less. */
function widthOf(most: number): { bits: number; short: number } {
  const bits = floorLog2(most) + 1;
  return { bits, short: (1 << bits) - 1 - most };
}

/** Reads bits from the lowest of the first byte on. */
class ForwardReader {
  readonly #bytes: Uint8Array;
  #at: number;

  constructor(bytes: Uint8Array, start: number) {
    this.#bytes = bytes;
    this.#at = start * 8;
  }

  read(count: number): number {
    let value = 0;
    for (let bit = 0; bit < count; bit++, this.#at++)
      value |= (((this.#bytes[this.#at >> 3] ?? 0) >> (this.#at & 7)) & 1) << bit;
    return value;
  }

  /** Returns the offset of the first byte that is not begun. */
  end(): number {
    return (this.#at + 7) >> 3;
  }
}

/** Reads bits from the last one back, which comes after a 1 that ends them (section 3.1.1.3.2.1). */
class BackwardReader {
  readonly #bytes: Uint8Array;
  #at: number;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
    this.#at = (bytes.length - 1) * 8 + floorLog2(bytes.at(-1) ?? 1);
  }

  read(count: number): number {
    let value = 0;
    for (let left = count; left > 0;) {
      const inByte = this.#at & 7 || 8;
      const taken = Math.min(left, inByte);
      this.#at -= taken;
      const byte = (this.#bytes[this.#at >> 3] ?? 0) >> (this.#at & 7);
      value = value * 2 ** taken + (byte & ((1 << taken) - 1));
      left -= taken;
    }
    return value;
  }
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

/** Number of bits of a state: fine enough for a thousand sequences, and allowed for all three kinds. */
const TABLE_LOG = 8;

/** Makes a table for codes, and its mode and description (section 3.1.1.3.2.1). */
function describeTable(codes: readonly number[]) {
  const counts = Array<number>(Math.max(...codes) + 1).fill(0);
  for (const code of codes) counts[code] = (counts[code] ?? 0) + 1;
  const [first = 0] = codes;
  if (counts[first] === codes.length)
    return { mode: RLE_MODE, bytes: [first], table: tableOfOne(first) };
  const distribution = { log: TABLE_LOG, counts: normalize(counts, codes.length) };
  return {
    mode: FSE_MODE,
    bytes: describeDistribution(distribution),
    table: makeTable(distribution),
  };
}

/** Shares the states among the codes by their frequencies; each that occurs has at least one. */
function normalize(counts: readonly number[], total: number): number[] {
  const size = 1 << TABLE_LOG;
  const shares = counts.map((count) =>
    count === 0 ? 0 : Math.max(1, Math.round((count * size) / total)),
  );
  // The most frequent code takes the rest, or gives it: a state more or less costs it the least.
  for (let rest = size - shares.reduce((sum, share) => sum + share, 0); rest !== 0;) {
    const index = shares.indexOf(Math.max(...shares));
    const step = Math.sign(rest);
    shares[index] = (shares[index] ?? 0) + step;
    rest -= step;
  }
  return shares;
}

/** Describes a distribution as `readDistribution` reads it. */
function describeDistribution({ log, counts }: Distribution): Uint8Array {
  const writer = new BitWriter([]);
  writer.write(log - 5, 4);
  let left = (1 << log) + 1;
  for (let code = 0; left > 1;) {
    const count = counts[code++] ?? 0;
    writeCount(writer, count + 1, left);
    left -= count;
    if (count !== 0) continue;
    let repeats = 0;
    while (counts[code] === 0) {
      repeats++;
      code++;
    }
    for (; repeats >= 3; repeats -= 3) writer.write(3, 2);
    writer.write(repeats, 2);
  }
  return writer.bytes();
}

function writeCount(writer: BitWriter, value: number, most: number): void {
  const { bits, short } = widthOf(most);
  if (value < short) writer.write(value, bits - 1);
  else writer.write(value >= 1 << (bits - 1) ? value + short : value, bits);
}

/** Writes bits from the lowest of the first byte on. */
class BitWriter {
  readonly #bytes: number[];
  length: number;

  constructor(start: readonly number[]) {
    this.#bytes = [...start];
    this.length = 8 * start.length;
  }

  write(value: number, count: number): void {
    for (let rest = value, left = count; left > 0;) {
      const shift = this.length & 7;
      if (shift === 0) this.#bytes.push(0);
      const taken = Math.min(left, 8 - shift);
      const at = this.#bytes.length - 1;
      this.#bytes[at] = (this.#bytes[at] ?? 0) | ((rest % 2 ** taken) << shift);
      rest = Math.floor(rest / 2 ** taken);
      left -= taken;
      this.length += taken;
    }
  }

  bytes(): Uint8Array {
    return Uint8Array.from(this.#bytes);
  }
}

/** Writes the states that lead from each code to the one before it. */
class StateWriter {
  readonly #table: Table;
  readonly #writer: BitWriter;
  readonly #states = new Map<number, number[]>();
  /** State of the code that a decoder reads next. */
  #next: number | undefined;

  constructor(table: Table, writer: BitWriter) {
    this.#table = table;
    this.#writer = writer;
    for (const [state, code] of Array.from(table.codes).entries())
      this.#states.set(code, [...(this.#states.get(code) ?? []), state]);
  }

  /** Writes the bits that lead from a code to the one written before. */
  enter(code: number): void {
    const { bases, bits } = this.#table;
    const states = this.#states.get(code) ?? [];
    const next = this.#next;
    if (next === undefined) {
      this.#next = states[0];
      return;
    }
    const leadsToNext = (state: number) => {
      const base = bases[state] ?? 0;
      return base <= next && next < base + (1 << (bits[state] ?? 0));
    };
    const state = states.find(leadsToNext) ?? 0;
    this.#writer.write(next - (bases[state] ?? 0), bits[state] ?? 0);
    this.#next = state;
  }

  /** Writes the first state of a decoder. */
  end(): void {
    this.#writer.write(this.#next ?? 0, this.#table.log);
  }
}
