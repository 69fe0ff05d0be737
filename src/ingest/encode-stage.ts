import { concatenate } from "../catalog/bytes.ts";
import { commonPieces, encodeLocal } from "../catalog/encode.ts";
import type { LocaleEntry, StoredSegment } from "../catalog/manifest.ts";
import type { Report } from "../schemas/run-report.ts";
import {
  type HashedBlob,
  type BodyDependencies,
  type CommonUnit,
  commonUnits,
  encodeBodies,
  encodeOwn,
  proveCommon,
  hashBlob,
  type SegmentPlace,
  toSegment,
} from "./bodies.ts";
import { type IngestCheckpoint, contentOf } from "./checkpoint.ts";
import { proceed, type EncodeContext, type IngestStepResult } from "./step.ts";
import { windowBitsFor } from "./segment-coders.ts";
import { commonSegment, formOf, headLength } from "./surroundings.ts";
import type { DeltaMaker } from "./deltas.ts";
import type { DiffMaker } from "./diffs.ts";
import { type SegmentStore, storedSegments } from "./segment-store.ts";
import type { Workspace } from "./workspace.ts";

interface EncodeDependencies {
  /** Locales to publish, in order. */
  readonly locales: readonly string[];
  /** Compresses a common segment. */
  readonly compress: BodyDependencies["compress"];
  /** Compresses a segment of one locale. */
  readonly compressOwn: BodyDependencies["compress"];
  readonly segments: SegmentStore;
  readonly diffs: DiffMaker;
  readonly deltas: DeltaMaker;
  readonly open: (checkpoint: IngestCheckpoint) => Promise<Workspace>;
}

/** More would delay a pause; fewer would read and write the whole checkpoint more often. */
export const LOCALES_IN_A_STEP = 2;

/** Encodes and stores, step by step, each common segment, some locales at a time, and each delta. */
export class EncodeStage {
  readonly #deps: EncodeDependencies;

  constructor(deps: EncodeDependencies) {
    this.#deps = deps;
  }

  async step(checkpoint: IngestCheckpoint, context: EncodeContext): Promise<IngestStepResult> {
    const unit = commonUnits()[checkpoint.common.length];
    if (unit !== undefined) return this.#encodeCommon(unit, checkpoint, context);
    const waiting = this.#deps.locales.filter((name) => checkpoint.entries[name] === undefined);
    if (waiting.length === 0) return this.#encodeDeltas(checkpoint, context);
    let encoded = checkpoint;
    for (const locale of waiting.slice(0, LOCALES_IN_A_STEP))
      encoded = await this.#encodeLocale(locale, encoded, context);
    return this.#proceed(encoded);
  }

  progress({ common, entries, diffs, deltas }: IngestCheckpoint): Report["progress"] {
    return {
      done: common.length + Object.keys(entries).length + deltas.length,
      total: commonUnits().length + this.#deps.locales.length + diffs.length,
    };
  }

  /** Stores the next common segment. */
  async #encodeCommon(
    unit: CommonUnit,
    checkpoint: IngestCheckpoint,
    context: EncodeContext,
  ): Promise<IngestStepResult> {
    const { segments } = this.#deps;
    const { common } = checkpoint;
    const made = hashBlob(await this.#makeCommon(unit, checkpoint));
    // Representations may share a segment, and KV accepts one write per second for each key.
    if (!common.some(({ blob }) => blob === made.sha256)) await segments.write([made], context);
    segments.cacheCommon(made);
    return this.#proceed({ ...checkpoint, common: [...common, toSegment(made)] });
  }

  async #makeCommon(
    { representation, coding }: CommonUnit,
    checkpoint: IngestCheckpoint,
  ): Promise<Uint8Array> {
    const { open, compress } = this.#deps;
    if (coding !== "identity") {
      const { bytes } = await this.#common(checkpoint, { representation, coding: "identity" });
      const offset = headLength(representation);
      const windowBits = windowBitsFor(bytes.length);
      const made = await compress({ bytes, coding, offset, windowBits });
      proveCommon({ representation, coding }, made, bytes);
      return made;
    }
    const form = formOf(representation);
    if (representation === form) {
      const { catalog } = await open(checkpoint);
      return concatenate([...commonPieces(catalog, form)]);
    }
    const { bytes } = await this.#common(checkpoint, { representation: form, coding });
    return commonSegment(representation, bytes);
  }

  async #encodeLocale(
    locale: string,
    checkpoint: IngestCheckpoint,
    context: EncodeContext,
  ): Promise<IngestCheckpoint> {
    const { open, compressOwn, segments, diffs: maker } = this.#deps;
    const message = contentOf(checkpoint).messages[locale];
    if (message === undefined) throw new Error(`${locale} was not built`);
    const { catalog, namesIn } = await open(checkpoint);
    const part = encodeLocal(catalog.regions, await namesIn(locale));
    // A run that stores all compresses all, as after a change of the effort.
    const before = context.mustStoreAll ? undefined : context.current?.locales[locale];
    const deps: BodyDependencies = {
      common: (unit) => this.#common(checkpoint, unit),
      compress: compressOwn,
      earlier: (place) => segments.readEarlier(before && segmentIn(before, place)),
      store: (blobs) => segments.write(blobs, context),
    };
    const bodies = await encodeBodies(part, deps);
    const own = await encodeOwn(part, deps);
    if (bodies.proto.identity?.sha256 !== message.sha256)
      throw new Error(`the message in ${locale} differs from that of the build stage`);
    const [, segment] = storedSegments(bodies.proto.identity);
    const regions = { locale, regions: part.proto, segment };
    const diffs = await maker.addLocale(checkpoint.diffs, regions, context);
    const entries = {
      ...checkpoint.entries,
      [locale]: { ...message, bodies, own },
    };
    return { ...checkpoint, entries, diffs };
  }

  /** Compresses the bodies with those of the next earlier content. */
  async #encodeDeltas(
    checkpoint: IngestCheckpoint,
    context: EncodeContext,
  ): Promise<IngestStepResult> {
    const { diffs, deltas, entries } = checkpoint;
    const from = context.retained.findRetained(diffs[deltas.length]?.generation ?? 0);
    const made = from ? await this.#deps.deltas.make(from, entries, context) : null;
    return this.#proceed({ ...checkpoint, deltas: [...deltas, made] });
  }

  #proceed(next: IngestCheckpoint): IngestStepResult {
    const progress = this.progress(next);
    const stage = progress.done < progress.total ? "encode" : "publish";
    return proceed({ ...next, stage }, { progress });
  }

  /** Reads a stored common segment. */
  async #common({ common }: IngestCheckpoint, unit: CommonUnit): Promise<HashedBlob> {
    const index = commonUnits().findIndex(
      ({ representation, coding }) =>
        representation === unit.representation && coding === unit.coding,
    );
    const segment = common[index];
    if (segment === undefined)
      throw new Error(`no common segment of ${unit.representation} in ${unit.coding} is stored`);
    return this.#deps.segments.readCommon(segment);
  }
}

/** Returns the locale's own segment in a place of a version. */
function segmentIn({ bodies, own }: LocaleEntry, place: SegmentPlace): StoredSegment | undefined {
  if ("own" in place) return own[place.own];
  return storedSegments(bodies[place.representation][place.coding])[1];
}
