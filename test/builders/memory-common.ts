import { inChunks, letGo } from "../../src/catalog/bytes.ts";
import type { EncodedPart } from "../../src/catalog/encode.ts";
import {
  type Blob,
  type CommonPiece,
  type CommonUnit,
  commonUnits,
  compressPiece,
  encodeBodies,
  type StoredCommon,
  toBlob,
} from "../../src/ingest/bodies.ts";
import { commonSegment, formOf } from "../../src/ingest/plain-segments.ts";

/** Common segments as the pipeline stores them, in pieces of another length if need be. */
export class MemoryCommon implements StoredCommon {
  readonly blobs = new Map<string, Blob>();
  /** What was read, and may still be in use. */
  readonly lent = new Set<Uint8Array>();
  readonly #units = new Map<string, CommonPiece[]>();

  static async of(common: EncodedPart, pieceBytes = Infinity): Promise<MemoryCommon> {
    const stored = new MemoryCommon();
    for (const unit of commonUnits()) await stored.#store(unit, common, pieceBytes);
    return stored;
  }

  pieces({ representation, coding }: CommonUnit): CommonPiece[] {
    return this.#units.get(`${representation} ${coding}`) ?? [];
  }

  async read({ blob }: CommonPiece): Promise<Uint8Array> {
    const found = this.blobs.get(blob);
    if (found === undefined) throw new Error(`there is no piece ${blob}`);
    const copy = Uint8Array.from(found.bytes);
    this.lent.add(copy);
    return copy;
  }

  letGo(_: CommonPiece, bytes: Uint8Array): void {
    this.lent.delete(bytes);
    letGo(bytes);
  }

  /** Takes other bytes for a piece than are stored under its name. */
  replace({ blob }: CommonPiece, bytes: Uint8Array): void {
    this.blobs.set(blob, { sha256: blob, bytes });
  }

  async #store(unit: CommonUnit, common: EncodedPart, pieceBytes: number): Promise<void> {
    const part = common[formOf(unit.representation)];
    const segment = commonSegment(unit.representation, [part], part.length);
    const pieces: CommonPiece[] = [];
    let offset = 0;
    for await (const bytes of inChunks(segment, Math.min(pieceBytes, 2 * part.length))) {
      const plain = unit.coding === "identity";
      const blob = plain ? toBlob(bytes) : compressPiece(unit, bytes, offset);
      offset += bytes.length;
      this.blobs.set(blob.sha256, blob);
      pieces.push({ blob: blob.sha256, bytes: blob.bytes.length });
    }
    this.#units.set(`${unit.representation} ${unit.coding}`, pieces);
  }
}

/** The bodies of a locale, and the blobs that were given to be stored, in order. */
export async function encodeAll(local: EncodedPart, common: StoredCommon) {
  const blobs: Blob[] = [];
  const bodies = await encodeBodies(local, common, async (some) => void blobs.push(...some));
  return { bodies, blobs };
}
