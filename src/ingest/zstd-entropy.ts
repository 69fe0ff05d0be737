/**
 * Finite-state entropy coding of Zstandard: its tables, their descriptions, and the streams of bits
 * (RFC 8878, sections 3.1.1.3.2.1 and 4.1). Pure.
 */

/** How a block gives a table: it is the default one, of one code, or described. */
export const DEFAULT_MODE = 0;
export const RLE_MODE = 1;
export const FSE_MODE = 2;

/** Finite-state entropy coding of one of the three kinds of codes (section 4.1). */
export interface Table {
  /** Number of bits of a state. */
  readonly log: number;
  /** By state: its code, and the states that follow: `bits` bits are added to `base`. */
  readonly codes: ArrayLike<number>;
  readonly bits: ArrayLike<number>;
  readonly bases: ArrayLike<number>;
}

/** How many states each code has; -1 stands for less than one. */
export interface Distribution {
  readonly log: number;
  readonly counts: readonly number[];
}

/** Makes the table of a distribution (section 4.1.1). */
export function makeTable({ log, counts }: Distribution): Table {
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

/** A table of one code. */
export function tableOfOne(code: number): Table {
  return { log: 0, codes: [code], bits: [0], bases: [0] };
}

/** Reads the description of a table (section 4.1.1). */
export function readDistribution(bytes: Uint8Array, start: number) {
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

/** Number of bits of a state: fine enough for a thousand sequences, and allowed for all three kinds. */
const TABLE_LOG = 8;

/** Makes a table for codes, and its mode and description (section 3.1.1.3.2.1). */
export function describeTable(codes: readonly number[]) {
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

/** Returns the bits of a value from 0 to `most`, and how many of the lowest take a bit less. */
function widthOf(most: number): { bits: number; short: number } {
  const bits = floorLog2(most) + 1;
  return { bits, short: (1 << bits) - 1 - most };
}

/** Writes the states that lead from each code to the one before it. */
export class StateWriter {
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

/** Reads bits from the last one back, which comes after a 1 that ends them (section 3.1.1.3.2.1). */
export class BackwardReader {
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

/** Writes bits from the lowest of the first byte on. */
export class BitWriter {
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

export function floorLog2(value: number): number {
  return 31 - Math.clz32(value);
}
