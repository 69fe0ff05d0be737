/**
 * The locale's own part of a body as blocks of a Zstandard frame, for a browser that has the body of any
 * other locale. The bytes of that part that all locales share, such as ids and codes of airports, are
 * cut into pieces. The blocks copy the pieces from wherever the browser's body has them: each distance
 * is left open, and filled in when the browser asks. Pure: no clock, no I/O.
 */
import { concatenate } from "./bytes.ts";
import type { DeltaForm } from "./manifest.ts";

/** Bits of the blocks for a distance, and the piece to which the distance leads. */
export interface Gap {
  /** Its first bit, counted from the lowest bit of the first byte. */
  readonly bit: number;
  /** Index of the piece. */
  readonly piece: number;
  /** Where the whole piece would begin in the locale's own part if it were copied there. */
  readonly to: number;
  /** Number of bits: those of the distance plus 3, without its highest one. */
  readonly bits: number;
}

/** The blocks with their gaps. */
export interface Template {
  readonly blocks: Uint8Array;
  /** In the order of their bits. */
  readonly gaps: readonly Gap[];
}

/** Where a locale's own part has the pieces. */
export interface Layout {
  /** Length of the part. */
  readonly bytes: number;
  /** Offset of each piece. */
  readonly starts: readonly number[];
}

/** Stores a template: its blocks, then varints. */
export function packTemplate({ blocks, gaps }: Template): Uint8Array {
  const values: number[] = [];
  let last: Gap = { bit: 0, piece: 0, to: 0, bits: 0 };
  for (const gap of gaps) {
    values.push(gap.bit - last.bit, zigzag(gap.piece - last.piece), zigzag(gap.to - last.to));
    values.push(gap.bits);
    last = gap;
  }
  return concatenate([blocks, packVarints(values)]);
}

/** Stores a locale's layouts in both forms. */
export function packLayouts({ proto, json }: { readonly [F in DeltaForm]: Layout }): Uint8Array {
  const [ofProto, ofJson] = [proto, json].map(({ bytes, starts }) =>
    packVarints([bytes, ...starts.map((start, index) => start - (starts[index - 1] ?? 0))]),
  );
  if (!ofProto || !ofJson) throw new Error("there are two forms");
  return concatenate([packVarints([ofProto.length]), ofProto, ofJson]);
}

/** A stored template, and the body that a browser has. */
interface Filling {
  readonly template: Uint8Array;
  /** Length of the template's blocks. */
  readonly blocks: number;
  readonly form: DeltaForm;
  /** The stored layouts of the browser's locale. */
  readonly layouts: Uint8Array;
  /** Length of what comes before the locale's own part in the wanted body. */
  readonly before: number;
}

/** Fills in the distances. Returns null if one does not fit, or leads to a piece that is not there. */
export function fillTemplate({
  template,
  blocks,
  form,
  layouts,
  before,
}: Filling): Uint8Array<ArrayBuffer> | null {
  const filled = template.slice(0, blocks);
  const toEnd = distancesToEnd(layouts, form);
  const values = readVarints(template.subarray(blocks));
  const gap = { bit: 0, piece: 0, to: 0 };
  for (let at = 0; at < values.length; at += GAP_VALUES) {
    gap.bit += values[at] ?? 0;
    gap.piece += unzigzag(values[at + 1] ?? 0);
    gap.to += unzigzag(values[at + 2] ?? 0);
    const left = toEnd[gap.piece];
    if (left === undefined) return null;
    const lowest = 2 ** (values[at + 3] ?? 0);
    const value = left + before + gap.to + 3 - lowest;
    if (value < 0 || value >= lowest) return null;
    // A gap has at most 22 bits, and may begin at any bit of a byte.
    const bits = value << (gap.bit & 7);
    for (let byte = gap.bit >> 3, rest = bits; rest > 0; byte++, rest >>= 8)
      filled[byte] = (filled[byte] ?? 0) | (rest & 255);
  }
  return filled;
}

/** How many numbers describe a gap. */
const GAP_VALUES = 4;

/** Returns the distance of each piece to the end of the body. */
function distancesToEnd(layouts: Uint8Array, form: DeltaForm): number[] {
  const { value: length, end } = readVarint(layouts, 0);
  const packed =
    form === "proto" ? layouts.subarray(end, end + length) : layouts.subarray(end + length);
  const [bytes = 0, ...steps] = readVarints(packed);
  let left = bytes;
  return steps.map((step) => (left -= step));
}

function zigzag(value: number): number {
  return value < 0 ? -2 * value - 1 : 2 * value;
}

function unzigzag(value: number): number {
  return value % 2 === 1 ? -(value + 1) / 2 : value / 2;
}

function packVarints(values: readonly number[]): Uint8Array {
  const bytes: number[] = [];
  for (const value of values) {
    let rest = value;
    for (; rest > 127; rest >>= 7) bytes.push((rest & 127) | 128);
    bytes.push(rest);
  }
  return Uint8Array.from(bytes);
}

function readVarints(bytes: Uint8Array): number[] {
  const values: number[] = [];
  for (let at = 0; at < bytes.length;) {
    const { value, end } = readVarint(bytes, at);
    values.push(value);
    at = end;
  }
  return values;
}

/** Length of a varint. */
export function varintBytes(value: number): number {
  return Math.max(1, Math.ceil((32 - Math.clz32(value)) / 7));
}

/** Reads a varint (Protocol Buffers, "Base 128 Varints") of at most 28 bits. */
export function readVarint(bytes: Uint8Array, start: number): { value: number; end: number } {
  let value = 0;
  let at = start;
  for (let shift = 0; ; shift += 7) {
    const byte = bytes[at++] ?? 0;
    value |= (byte & 127) << shift;
    if (byte < 128) return { value, end: at };
  }
}
