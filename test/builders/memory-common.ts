import type { EncodedPart } from "../../src/catalog/encode.ts";
import {
  type HashedBlob,
  type BodyDependencies,
  type CommonUnit,
  commonUnits,
  encodeBodies,
  hashBlob,
} from "../../src/ingest/bodies.ts";
import {
  compress,
  compressSegment,
  type Effort,
  windowBitsFor,
} from "../../src/ingest/segment-coders.ts";
import { commonSegment, formOf, headLength } from "../../src/ingest/surroundings.ts";

/** Common segments as the pipeline stores them. */
export class MemoryCommon {
  readonly effort: Effort;
  readonly #units = new Map<string, HashedBlob>();

  constructor(common: EncodedPart, effort: Effort = "fast") {
    this.effort = effort;
    for (const { representation, coding } of commonUnits()) {
      const bytes = commonSegment(representation, common[formOf(representation)]);
      const offset = headLength(representation);
      const windowBits = windowBitsFor(bytes.length);
      const made = hashBlob(
        coding === "identity"
          ? bytes
          : compressSegment({ bytes, coding, offset, windowBits, effort }),
      );
      this.#units.set(`${representation} ${coding}`, made);
    }
  }

  get blobs(): HashedBlob[] {
    return [...this.#units.values()];
  }

  segment({ representation, coding }: CommonUnit): HashedBlob {
    const found = this.#units.get(`${representation} ${coding}`);
    if (found === undefined) throw new Error(`${representation} in ${coding} has no segment here`);
    return found;
  }

  /** Takes other bytes for a segment than are stored under its name. */
  replace({ representation, coding }: CommonUnit, bytes: Uint8Array): void {
    const { sha256 } = this.segment({ representation, coding });
    this.#units.set(`${representation} ${coding}`, { sha256, bytes });
  }
}

/** The bodies of a locale, and the blobs that were given to be stored, in order. */
export async function encodeAll(
  local: EncodedPart,
  stored: MemoryCommon,
  changes: Partial<BodyDependencies> = {},
) {
  const blobs: HashedBlob[] = [];
  const bodies = await encodeBodies(local, {
    common: async (unit) => stored.segment(unit),
    compress: async (task) => compress({ ...task, effort: stored.effort }),
    earlier: async () => null,
    store: async (some) => void blobs.push(...some),
    ...changes,
  });
  return { bodies, blobs };
}
