/**
 * Makes the templates that turn a browser's body of one locale into the body of another
 * (`src/catalog/translation.ts`). Pure, but for the compression.
 */
import { Buffer } from "node:buffer";
import { concatenate, lengthOf, releaseBuffer, sha256Hex } from "../catalog/bytes.ts";
import { blockHeader, COMPRESSED, decodesTo, encodeStart, LAST_BLOCK } from "../catalog/dcz.ts";
import type { DeltaForm } from "../catalog/manifest.ts";
import {
  fillTemplate,
  type Gap,
  type Layout,
  packLayouts,
  packTemplate,
  readVarint,
  varintBytes,
  type Template,
} from "../catalog/translation.ts";
import { compressPieces, type Effort } from "./segment-coders.ts";
import {
  lastAtMost,
  type OpenSequence,
  type Sequence,
  withTable,
  readBlocks,
  SequenceWriter,
} from "./zstd-blocks.ts";
import { floorLog2 } from "./zstd-entropy.ts";

/** A locale's own part in one form. */
export interface TranslationTask {
  readonly form: DeltaForm;
  /** The regions, encoded. */
  readonly part: Uint8Array;
  /** Length of the common part, which comes before it. */
  readonly before: number;
  /** The shortest and the longest fields of each region that vary with the locale, in bytes. */
  readonly shortest: Uint16Array;
  readonly longest: Uint16Array;
  readonly effort: Effort;
}

/** A stored template, and where the part has its pieces. */
export interface Translated {
  /** SHA-256 (hex) of the pieces. Locales with the same pieces can be translated into each other. */
  readonly pieces: string;
  readonly layout: Layout;
  /** A stored template, and the length of its blocks. */
  readonly template: Uint8Array;
  readonly blocks: number;
}

/**
 * Translates a part that `encodeLocal` has made. Returns null if a copy or a distance is unlike those
 * that a template can leave open: then browsers get the whole body.
 *
 * @throws Error if the filled template does not decode to the part.
 */
export async function translate(
  task: TranslationTask,
  compress: typeof compressPieces = compressPieces,
): Promise<Translated | null> {
  const { form, part, before, effort } = task;
  const pieces = form === "proto" ? findProtoPieces(task) : findJsonPieces(part);
  const { bytes: reference, starts } = joinPieces(part, pieces);
  // No copy reaches farther back than its piece would need at its own place: the distances stay alike.
  const farthest = pieces.map(({ at }, index) => at + reference.length - (starts[index] ?? 0));
  const window = ceilLog2(Math.max(WINDOW_MIN_BYTES, ...farthest.map((distance) => distance + 1)));
  const frame = await compress([reference, part], { effort, window });
  const template = makeTemplate(frame, {
    distanceTo: (piece) => before + part.length - (pieces[piece]?.at ?? 0),
    pieces,
    starts,
    bytes: reference.length,
  });
  if (template === null) return null;
  const translated: Translated = {
    pieces: sha256Hex(reference),
    layout: { bytes: part.length, starts: pieces.map(({ at }) => at) },
    template: packTemplate(template),
    blocks: template.blocks.length,
  };
  return isProved(translated, task) ? translated : null;
}

/** The smallest window of Zstandard (RFC 8878, section 3.1.1.1.2). */
const WINDOW_MIN_BYTES = 1024;

/** Bytes that the parts of all locales share. */
interface Piece {
  /** Offset in the part. */
  readonly at: number;
  readonly bytes: number;
  /** A length within it that differs between locales, though its encoding is equally long in all. */
  readonly varint?: { readonly at: number; readonly bytes: number };
}

const REGIONS_TAG = 0x42;
const NAME_LOCALIZED_TAG = 0x22;

/**
 * Finds what comes before each localized name, and what comes after each localized slug. The length of
 * a region is between them.
 */
function findProtoPieces({ part, shortest, longest }: TranslationTask): Piece[] {
  const pieces: Piece[] = [];
  let start = 0;
  for (let at = 0, region = 0; at < part.length; region++) {
    const { value: length, end: message } = readVarint(part, at + 1);
    let nameAt = message;
    while (nameAt < part.length && part[nameAt] !== NAME_LOCALIZED_TAG)
      nameAt = skipField(part, nameAt);
    if (part[at] !== REGIONS_TAG || nameAt >= part.length)
      throw new Error("the part has something else than regions with localized names");
    const localizedEnd = skipField(part, skipField(part, nameAt));
    const rest = length - (localizedEnd - nameAt);
    const least = varintBytes(rest + (shortest[region] ?? 0));
    const varint = { at: at + 1, bytes: message - at - 1 };
    const hasOneWidth = least === varintBytes(rest + (longest[region] ?? 0));
    if (hasOneWidth) {
      pieces.push({ at: start, bytes: nameAt + 1 - start, varint });
    } else {
      pieces.push({ at: start, bytes: at + 1 - start });
      pieces.push({ at: message, bytes: nameAt + 1 - message });
    }
    start = localizedEnd;
    at = message + length;
  }
  return [...pieces, { at: start, bytes: part.length - start }];
}

/** Skips a length-delimited field with a tag of one byte. */
function skipField(bytes: Uint8Array, at: number): number {
  const { value, end } = readVarint(bytes, at + 1);
  return end + value;
}

function ceilLog2(value: number): number {
  return 32 - Math.clz32(value - 1);
}

/** Finds what comes between a localized slug and the next region's localized name. */
function findJsonPieces(part: Uint8Array): Piece[] {
  const text = Buffer.from(part.buffer, part.byteOffset, part.length);
  const pieces: Piece[] = [];
  let start = 0;
  for (;;) {
    const nameAt = text.indexOf(NAME_START, start);
    if (nameAt < 0) return [...pieces, { at: start, bytes: part.length - start }];
    const end = nameAt + NAME_START.length;
    pieces.push({ at: start, bytes: end - start });
    const slugAt = text.indexOf(SLUG_START, end);
    if (slugAt < 0) throw new Error("a region has no localized slug");
    start = text.indexOf('"', slugAt + SLUG_START.length);
  }
}

/** These cannot stand within a JSON string, whose quotes have a backslash before them. */
const NAME_START = '"nameLocalized":"';
const SLUG_START = '"slugLocalized":"';

/**
 * Joins the pieces with bytes between them that no part has, so that no copy runs from one piece to
 * the next, or over a length: no length is 0.
 */
function joinPieces(part: Uint8Array, pieces: readonly Piece[]) {
  const joined: Uint8Array[] = [];
  const starts: number[] = [];
  let length = 0;
  for (const [index, { at, bytes, varint }] of pieces.entries()) {
    const piece = part.slice(at, at + bytes);
    if (varint) piece.fill(0, varint.at - at, varint.at - at + varint.bytes);
    starts.push(length);
    joined.push(piece, Uint8Array.of(0, 0xfe, index & 255, index >> 8, 0xfe, 0xff));
    length += bytes + 6;
  }
  return { bytes: concatenate(joined), starts };
}

/** Bytes before the part in the frame. */
interface Reference {
  readonly bytes: number;
  readonly pieces: readonly Piece[];
  /** Offset of each piece. */
  readonly starts: readonly number[];
  /** Distance from the start of the part to a piece, if the same body is the dictionary. */
  readonly distanceTo: (piece: number) => number;
}

type Copied = Omit<Gap, "bit">;

/** Writes the blocks of the part anew, with gaps where they copy from pieces. Null if it cannot. */
function makeTemplate(frame: Uint8Array, reference: Reference): Template | null {
  const written: Uint8Array[] = [];
  const gaps: Gap[] = [];
  const writer = new SequenceWriter<Copied>();
  const open = new CopyOpener(reference);
  let hasTable = false;
  let end = -reference.bytes;
  for (const block of readBlocks(frame)) {
    const at = end;
    end += block.bytes;
    if (at < 0 && end > 0) return null;
    if (at < 0) continue;
    if (block.type !== COMPRESSED) {
      written.push(blockHeader(block.type, block.bytes), block.content);
      continue;
    }
    const isOrphan = block.literals === "treeless" && !hasTable;
    const literals = isOrphan ? withTable(block) : block.content;
    const sequences = open.all(block.sequences, at);
    if (literals === null || sequences === null) return null;
    hasTable ||= block.literals !== "plain";
    const section = writer.write(sequences);
    written.push(blockHeader(COMPRESSED, literals.length + section.bytes.length), literals);
    const start = 8 * lengthOf(written);
    for (const { bit, distance } of section.open) gaps.push({ bit: start + bit, ...distance });
    written.push(section.bytes);
  }
  return { blocks: concatenate([...written, LAST_BLOCK]), gaps };
}

/** Opens the distances of copies from pieces. The same distance is the same object. */
class CopyOpener {
  readonly #reference: Reference;
  readonly #known = new Map<string, Copied>();

  constructor(reference: Reference) {
    this.#reference = reference;
  }

  /** Opens those of a block at an offset in the part. Null if a copy is of more than a piece. */
  all(sequences: readonly Sequence[], start: number): OpenSequence<Copied>[] | null {
    const opened: OpenSequence<Copied>[] = [];
    let at = start;
    for (const sequence of sequences) {
      at += sequence.literals;
      const distance = at < sequence.distance ? this.#open(sequence, at) : sequence.distance;
      if (distance === null) return null;
      opened.push({ ...sequence, distance });
      at += sequence.bytes;
    }
    return opened;
  }

  #open({ bytes, distance }: Sequence, at: number): Copied | null {
    const { pieces, starts, bytes: referenceBytes, distanceTo } = this.#reference;
    const from = referenceBytes + at - distance;
    const piece = lastAtMost(starts, from);
    const offset = from - (starts[piece] ?? 0);
    if (offset + bytes > (pieces[piece]?.bytes ?? 0)) return null;
    const to = at - offset;
    // The distance to another body differs little, as a rule by no power of two.
    const bits = floorLog2(distanceTo(piece) + to + 3);
    const name = `${piece} ${to}`;
    const copied = this.#known.get(name) ?? { piece, to, bits };
    this.#known.set(name, copied);
    return copied;
  }
}

/**
 * Decodes the part with a body that has it already as the dictionary. A body of another locale has
 * the same pieces, as the hash of the pieces proves, and differs in the distances alone. False if they
 * do not fit the gaps.
 */
function isProved(
  { layout, template, blocks }: Translated,
  { form, part, before }: TranslationTask,
): boolean {
  const layouts = packLayouts({ proto: layout, json: layout });
  const filled = fillTemplate({ template, blocks, form, layouts, before });
  if (filled === null) return false;
  const common = new Uint8Array(before);
  const target = concatenate([common, part]);
  const dictionary = { sha256: "", bytes: target.length };
  const start = encodeStart({ dictionary, common: before, bytes: target.length });
  const dcz = concatenate([start, filled]);
  const isSame = decodesTo(dcz, [common, part], target);
  for (const bytes of [target, dcz]) releaseBuffer(bytes);
  if (!isSame) throw new Error(`the template of ${form} does not decode to its input`);
  return true;
}
