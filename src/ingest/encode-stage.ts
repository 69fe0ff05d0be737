import { concatenate } from "../catalog/bytes.ts";
import { sharedPieces, encodeLocalePart, type Form, FORMS } from "../catalog/encode.ts";
import { canJoin, type Effort, provesShared, type SharedUnit } from "../parts/codings.ts";
import { windowBitsFor } from "../parts/compose.ts";
import { FRAME_HEADER_BYTES } from "../parts/framing.ts";
import type { Coding, LocaleParts, SharedParts } from "../parts/manifest.ts";
import type { Report } from "../schemas/run-report.ts";
import {
  type Compress,
  type HashedBlob,
  hashBlob,
  makeLocaleParts,
  NotDecodable,
  toPart,
} from "./locale-parts.ts";
import { type IngestCheckpoint, contentOf } from "./checkpoint.ts";
import { proceed, type EncodeContext, type IngestStepResult } from "./step.ts";
import type { DiffMaker } from "./diffs.ts";
import { encodeNames } from "./encode-names.ts";
import type { PartStore } from "./part-store.ts";
import type { Workspace } from "./workspace.ts";

interface EncodeDependencies {
  /** Locales to publish, in order. */
  readonly locales: readonly string[];
  readonly compress: Compress;
  readonly compressLocalePart: Compress;
  /** Effort for the packed names, which are too short for a separate isolate. */
  readonly effort: Effort;
  readonly parts: PartStore;
  readonly diffs: DiffMaker;
  readonly open: (checkpoint: IngestCheckpoint) => Promise<Workspace>;
}

/** More would delay a pause; fewer would read and write the whole checkpoint more often. */
export const LOCALES_IN_A_STEP = 2;

/** The shared parts of a form, with the compression of each. */
const UNITS: { readonly [P in keyof SharedParts]-?: SharedUnit | null } = {
  identity: null,
  gzip: { coding: "gzip", isInFrame: false },
  br: { coding: "br", isInFrame: false },
  brInFrame: { coding: "br", isInFrame: true },
};

/** Lists the shared parts that this runtime makes; each comes after the part that it is compressed from. */
export function sharedParts(): readonly {
  readonly form: Form;
  readonly name: keyof SharedParts;
}[] {
  const names = (["identity", "gzip", "br", "brInFrame"] as const).filter((name) =>
    canJoin(UNITS[name]?.coding ?? "identity"),
  );
  return FORMS.flatMap((form) => names.map((name) => ({ form, name })));
}

/** Encodes and stores one shared part or some locales in each step. */
export class EncodeStage {
  readonly #deps: EncodeDependencies;

  constructor(deps: EncodeDependencies) {
    this.#deps = deps;
  }

  async step(checkpoint: IngestCheckpoint, context: EncodeContext): Promise<IngestStepResult> {
    const wanted = sharedParts().find(({ form, name }) => !checkpoint.shared[form]?.[name]);
    if (wanted !== undefined) return this.#encodeShared(wanted, checkpoint, context);
    const waiting = this.#deps.locales.filter((name) => checkpoint.entries[name] === undefined);
    let encoded = checkpoint;
    for (const locale of waiting.slice(0, LOCALES_IN_A_STEP))
      encoded = await this.#encodeLocale(locale, encoded, context);
    return this.#proceed(encoded);
  }

  progress({ shared, entries }: IngestCheckpoint): Report["progress"] {
    const made = Object.values(shared).flatMap((parts) => Object.keys(parts));
    return {
      done: made.length + Object.keys(entries).length,
      total: sharedParts().length + this.#deps.locales.length,
    };
  }

  async #encodeShared(
    { form, name }: ReturnType<typeof sharedParts>[number],
    checkpoint: IngestCheckpoint,
    context: EncodeContext,
  ): Promise<IngestStepResult> {
    const { parts, open } = this.#deps;
    const unit = UNITS[name];
    const made = hashBlob(
      unit === null
        ? concatenate([...sharedPieces((await open(checkpoint)).catalog, form)])
        : await this.#compressShared(
            unit,
            (await this.#shared(checkpoint, form, "identity")).bytes,
          ),
    );
    await parts.write([made], context);
    parts.cacheShared(made);
    const ofForm = { ...checkpoint.shared[form], [name]: toPart(made) };
    return this.#proceed({ ...checkpoint, shared: { ...checkpoint.shared, [form]: ofForm } });
  }

  async #compressShared(unit: SharedUnit, bytes: Uint8Array): Promise<Uint8Array> {
    const { coding, isInFrame } = unit;
    const offset = isInFrame ? FRAME_HEADER_BYTES : 0;
    const windowBits = windowBitsFor(bytes.length);
    const made = await this.#deps.compress({ bytes, coding, offset, windowBits });
    if (!provesShared(unit, made, bytes)) throw new NotDecodable("a shared part", coding);
    return made;
  }

  async #encodeLocale(
    locale: string,
    checkpoint: IngestCheckpoint,
    context: EncodeContext,
  ): Promise<IngestCheckpoint> {
    const { open, compressLocalePart, effort, parts, diffs: maker } = this.#deps;
    const message = contentOf(checkpoint).messages[locale];
    if (message === undefined) throw new Error(`${locale} was not built`);
    const { catalog, namesIn } = await open(checkpoint);
    const names = await namesIn(locale);
    const local = encodeLocalePart(catalog.regions, names);
    // A run that stores all blobs also compresses all, because the effort may have changed.
    const before = context.mustStoreAll ? undefined : context.current?.locales[locale];
    const make = async (form: Form): Promise<LocaleParts> =>
      makeLocaleParts(local[form], {
        shared: (coding) => this.#shared(checkpoint, form, coding),
        compress: compressLocalePart,
        earlier: (coding) => parts.readEarlier(before?.parts[form][coding]),
        store: (blob) => parts.writeMade(blob),
      });
    const localeParts = { proto: await make("proto"), json: await make("json") };
    if (localeParts.proto.digests.identity !== message.sha256)
      throw new Error(`the message in ${locale} differs from that of the build stage`);
    const packed = await encodeNames(
      { locale, regions: catalog.regions, names },
      {
        effort,
        earlier: () => parts.readEarlier(before?.names),
        store: (blob) => parts.writeMade(blob),
      },
    );
    const regions = { locale, regions: local.proto, part: localeParts.proto.gzip };
    const diffs = await maker.addLocale(checkpoint.diffs, regions, context);
    const entries = {
      ...checkpoint.entries,
      [locale]: { coverage: message.coverage, parts: localeParts, names: packed },
    };
    return { ...checkpoint, entries, diffs };
  }

  #proceed(next: IngestCheckpoint): IngestStepResult {
    const progress = this.progress(next);
    const stage = progress.done < progress.total ? "encode" : "publish";
    return proceed({ ...next, stage }, { progress });
  }

  async #shared({ shared }: IngestCheckpoint, form: Form, coding: Coding): Promise<HashedBlob> {
    const part = shared[form]?.[coding];
    if (part === undefined) throw new Error(`no shared part of ${form} in ${coding} is stored`);
    return this.#deps.parts.readShared(part);
  }
}
