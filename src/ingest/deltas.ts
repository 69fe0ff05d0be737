/**
 * Compresses the bodies of a version with those of an earlier one as dictionaries (RFC 9842), once,
 * when it is published. A browser that has the earlier one receives only what has changed.
 */
import { setImmediate as nextTurn } from "node:timers/promises";
import { concatenate, lengthOf, releaseBuffer } from "../catalog/bytes.ts";
import { type CopiedRange, decodesTo, encodeDcz, MATCH_MIN_BYTES } from "../catalog/dcz.ts";
import { findMatches } from "../catalog/find-matches.ts";
import {
  type Body,
  DELTA_FORMS,
  type DeltaForm,
  type Manifest,
  type StoredDelta,
  type StoredDeltas,
  type StoredSegment,
} from "../catalog/manifest.ts";
import type { CatalogStore } from "../storage/catalog-store.ts";
import { StoreError } from "../platform/deadline.ts";
import { hashBlob } from "./bodies.ts";
import type { EncodeContext } from "./step.ts";
import { readSegment, type SegmentStore, storedSegments } from "./segment-store.ts";

/** Longest delta. It bounds the blob of all locales. After more changes a browser fetches the body. */
const DELTA_MAX_BYTES = 64 * 1024;

/** A segment and the one that it replaces. */
interface BodyPair {
  readonly before: Uint8Array;
  readonly after: Uint8Array;
  readonly matches: readonly CopiedRange[];
}

type Entries = Manifest["locales"];

/** Makes and stores the deltas of a version. Throws StoreError if a store fails. */
export class DeltaMaker {
  readonly #store: Pick<CatalogStore, "readBlob">;
  readonly #segments: SegmentStore;
  readonly #encode: typeof encodeDcz;

  constructor(
    store: Pick<CatalogStore, "readBlob">,
    segments: SegmentStore,
    encode: typeof encodeDcz = encodeDcz,
  ) {
    this.#store = store;
    this.#segments = segments;
    this.#encode = encode;
  }

  /** Makes the deltas from an earlier version; null if nothing can be made of it. */
  async make(
    from: Manifest,
    entries: Entries,
    context: Pick<EncodeContext, "mustStoreAll" | "current">,
  ): Promise<StoredDeltas | null> {
    const parts: Uint8Array[] = [];
    const locales: { [locale: string]: { [F in DeltaForm]?: StoredDelta } } = {};
    let start = 0;
    for (const form of DELTA_FORMS) {
      const common = new Map<string, BodyPair | null>();
      for (const [locale, { bodies }] of Object.entries(entries)) {
        const [before, after] = [
          from.locales[locale]?.bodies[form].identity,
          bodies[form].identity,
        ];
        if (before === undefined || after === undefined || before.sha256 === after.sha256) continue;
        const made = await this.#compress(before, after, common);
        if (made === null || made.whole.length > DELTA_MAX_BYTES) continue;
        const delta = {
          dictionary: before.sha256,
          start,
          bytes: made.whole.length,
          common: made.common.length,
        };
        locales[locale] = { ...locales[locale], [form]: delta };
        parts.push(made.whole, made.common);
        start += lengthOf(parts.slice(-2));
        await nextTurn(); // of other requests
      }
    }
    if (parts.length === 0) return null;
    const blob = hashBlob(concatenate(parts));
    await this.#segments.write([blob], context);
    return { blob: blob.sha256, locales };
  }

  /**
   * Compresses a body, and its common part alone. Decodes both again; null if that does not give the
   * same bytes.
   */
  async #compress(
    before: Body,
    after: Body,
    known: Map<string, BodyPair | null>,
  ): Promise<{ readonly whole: Uint8Array; readonly common: Uint8Array } | null> {
    const [oldCommon, oldLocal] = storedSegments(before);
    const [newCommon, newLocal] = storedSegments(after);
    if (!oldCommon || !oldLocal || !newCommon || !newLocal) return null;
    if (before.segments.length > 2 || after.segments.length > 2) return null;
    const key = `${oldCommon.blob} ${newCommon.blob}`;
    const common = known.get(key) ?? (await this.#compareCommon(oldCommon, newCommon));
    known.set(key, common);
    const local = common && (await this.#compareLocal(oldLocal, newLocal));
    if (local === null || common === null) return null;
    const target = concatenate([common.after, local.after]);
    const [from, to] = [common.before.length, common.after.length];
    const dictionary = { sha256: before.sha256, bytes: before.bytes };
    const whole = this.#encode({
      dictionary,
      target,
      matches: [
        ...common.matches,
        ...local.matches.map((match) => ({ ...match, from: from + match.from, to: to + match.to })),
      ],
    });
    const start = this.#encode({ dictionary, target: common.after, matches: common.matches });
    const pieces = [common.before, local.before];
    const isProved = decodesTo(whole, pieces, target) && decodesTo(start, pieces, common.after);
    for (const bytes of new Set([target, local.before, local.after])) releaseBuffer(bytes);
    return isProved ? { whole, common: start } : null;
  }

  async #compareCommon(before: StoredSegment, after: StoredSegment): Promise<BodyPair | null> {
    const bytes = await readSegment(this.#store, before);
    return bytes && compare(bytes, (await this.#segments.readCommon(after)).bytes);
  }

  async #compareLocal(before: StoredSegment, after: StoredSegment): Promise<BodyPair | null> {
    const bytes = await readSegment(this.#store, after);
    if (bytes === null) throw new StoreError(`no copy of ${after.blob} is intact`);
    const old = before.blob === after.blob ? bytes : await readSegment(this.#store, before);
    return old && compare(old, bytes);
  }
}

function compare(before: Uint8Array, after: Uint8Array): BodyPair {
  const isSame = before === after && after.length >= MATCH_MIN_BYTES;
  const whole = { from: 0, to: 0, bytes: after.length };
  return { before, after, matches: isSame ? [whole] : findMatches(before, after) };
}
