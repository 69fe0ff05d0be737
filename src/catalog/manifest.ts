/**
 * The manifest lists the bytes of the published catalog.
 *
 * A body consists of segments: bytes that all locales share, bytes of one locale, and a few bytes of
 * framing inside the manifest. Segments of each coding can be concatenated, so the large common
 * part is encoded, compressed and stored once for all locales.
 */
import { Buffer } from "node:buffer";

/** Wire forms that an ingest encodes. `grpc-web-text` is `grpc-web` in base64. */
export const REPRESENTATIONS = [
  "proto",
  "json",
  "grpc-web",
  "grpc-web-text",
  "grpc-web-json",
] as const;
export type Representation = (typeof REPRESENTATIONS)[number];

/** Content codings, smallest body first. */
export const CODINGS = ["br", "gzip", "identity"] as const;
export type Coding = (typeof CODINGS)[number];

/** A stored blob by its SHA-256 (hex), some bytes of it, or what it inflates to. */
export interface StoredSegment {
  readonly blob: string;
  /** Length as sent. */
  readonly bytes: number;
  readonly start?: number;
  /** Whether the blob is a segment in gzip, for a body without a coding. */
  readonly isDeflated?: true;
}

/** A part of a published body: stored bytes, or inline base64. */
export type Segment = StoredSegment | { readonly inline: string };

/** An HTTP body in one coding. */
export interface Body {
  /**
   * SHA-256 (hex) of the body as sent. Of gRPC-Web, where each body begins with its own length, it is
   * that of the bytes at both ends and the hashes of the blobs between.
   */
  readonly sha256: string;
  /** Length as sent. */
  readonly bytes: number;
  readonly segments: readonly Segment[];
}

/** The bodies of one locale. Only `identity` is always published. */
export type Bodies = {
  readonly [R in Representation]: { readonly [C in Coding]?: Body };
};

/** The published content of one locale. */
export interface LocaleEntry {
  /** SHA-256 (hex) of the identity protobuf message. */
  readonly sha256: string;
  /** Length of the identity protobuf message. */
  readonly bytes: number;
  /** Share of airports whose subdivision has a name in this locale, 0 to 1. */
  readonly coverage: number;
  readonly bodies: Bodies;
  readonly own: OwnParts;
}

/**
 * The locale's own part as blocks of a Zstandard frame, for browsers that have the common part from
 * another body. Without one they get the whole body.
 */
export type OwnParts = { readonly [F in DeltaForm]?: StoredSegment };

/** Length of each list, equal in every locale. */
export interface Counts {
  readonly airports: number;
  readonly cities: number;
  readonly countries: number;
  readonly regions: number;
}

/** A source of the catalog. */
export interface DataSource {
  /** Name, such as `OurAirports: airports`; for a file of upstream, the source and the file's name. */
  readonly name: string;
  /** Date of the data, `YYYY-MM-DD`. */
  readonly as_of: string;
}

/** The changes from an earlier version to this one. Each blob is a part of a JSON object. */
export interface StoredDiff {
  /** The newest version of its content. */
  readonly generation: number;
  readonly published_at: string;
  readonly catalog_sha256: string;
  /** Blob of the lists that all locales share: `"airports":{…},"cities":{…},"countries":{…}`. */
  readonly common: string;
  /** Blob of the regions of each locale: `"regions":{…}`. */
  readonly local: { readonly [locale: string]: string };
  /** Null if there are none. */
  readonly deltas: StoredDeltas | null;
}

/** Forms of Connect GET, which a browser may hold as a dictionary. */
export const DELTA_FORMS = ["proto", "json"] as const;
export type DeltaForm = (typeof DELTA_FORMS)[number];

/** The bodies of a version in the coding `dcz`, with those of an earlier version as dictionaries. */
export interface StoredDeltas {
  /** Blob of all of them. */
  readonly blob: string;
  readonly locales: {
    readonly [locale: string]: { readonly [F in DeltaForm]?: StoredDelta };
  };
}

/** A range of the blob: the delta of a whole body, and the delta of its common part alone. */
export interface StoredDelta {
  /** SHA-256 (hex). */
  readonly dictionary: string;
  readonly start: number;
  readonly bytes: number;
  /** Length of the delta of the common part, which follows. */
  readonly common: number;
}

/** Published airports: all, or only those with scheduled service. */
export const AIRPORT_SETS = ["all", "scheduled"] as const;
export type AirportSet = (typeof AIRPORT_SETS)[number];

/**
 * Raise it with each change of the stored form or of its text in KV and R2, beside a version of the
 * coordinator's tables that converts the manifests there. A Worker that shall serve during the upgrade
 * reads both formats; otherwise an earlier one counts as absent until the coordinator replaces it.
 */
export const MANIFEST_FORMAT = 5;
/** The earliest format that is read: its bodies without a coding have no deflated segment. */
export const OLDEST_MANIFEST_FORMAT = 4;

export interface Manifest {
  readonly format: typeof MANIFEST_FORMAT;
  /** Rises with every publication, including a rollback. */
  readonly generation: number;
  /** RFC 3339, UTC, milliseconds. */
  readonly published_at: string;
  /** SHA-256 (hex) over every locale and its message hash. Identifies the content. */
  readonly catalog_sha256: string;
  /** SHA-256 (hex) of each archived upstream file of this version. */
  readonly sources: { readonly [file: string]: string };
  /** Date of the airports, `YYYY-MM-DD`; null if not recorded. */
  readonly as_of: string | null;
  /** All sources of this version; empty if not recorded. */
  readonly data: readonly DataSource[];
  readonly airport_set: AirportSet;
  readonly counts: Counts;
  /** The generation that was current before; null for the first. */
  readonly previous: number | null;
  /** Changes from the contents before this one; a rollback keeps those of what it publishes. */
  readonly diffs: readonly StoredDiff[];
  readonly locales: { readonly [locale: string]: LocaleEntry };
}

/** Lists the SHA-256 (hex) of every blob of a manifest. */
export function manifestBlobs({ locales, diffs }: Manifest): ReadonlySet<string> {
  const ofLocales = Object.values(locales).flatMap((entry) => [
    ...bodyBlobs(entry),
    ...ownBlobs(entry),
  ]);
  const ofDiffs = diffs.flatMap(({ common, local, deltas }) => [
    common,
    ...Object.values(local),
    ...(deltas === null ? [] : [deltas.blob]),
  ]);
  return new Set([...ofLocales, ...ofDiffs]);
}

/** Lists the SHA-256 (hex) of the blobs of a locale's bodies. */
export function bodyBlobs({ bodies }: Pick<LocaleEntry, "bodies">): string[] {
  return Object.values(bodies).flatMap((codings) => Object.values(codings).flatMap(segmentBlobs));
}

/** Lists the SHA-256 (hex) of the blobs of a locale's own part. */
export function ownBlobs({ own }: Pick<LocaleEntry, "own">): string[] {
  return Object.values(own).map(({ blob }) => blob);
}

/** Lists the SHA-256 (hex) of the blobs of a body. */
export function segmentBlobs({ segments }: Body): string[] {
  return segments.flatMap((segment) => ("blob" in segment ? [segment.blob] : []));
}

/**
 * A manifest as the coordinator and backups store it, in JSON. Bodies name their segments by index,
 * because several share each. Fields that follow from others, such as the length of a body, are left
 * out.
 */
export interface StoredManifest extends Omit<Manifest, "format" | "locales"> {
  readonly format: number;
  /** The segments of all bodies. */
  readonly segments: readonly SegmentEntry[];
  readonly locales: { readonly [locale: string]: StoredEntry };
}

/** SHA-256 (hex) of a blob with the length as sent, and whether it is deflated; or inline base64. */
export type SegmentEntry = readonly [sha256: string, bytes: number, isDeflated?: true] | string;

export interface StoredEntry extends Pick<LocaleEntry, "coverage" | "own"> {
  /** By representation and coding. */
  readonly bodies: { readonly [form: string]: { readonly [coding: string]: StoredBody } };
}

/** SHA-256 (hex) of a body, and the indexes of its segments. */
type StoredBody = readonly [sha256: string, ...segments: number[]];

/** Converts a manifest to the form that `fromStored` reads. */
export function toStored({ locales, ...manifest }: Manifest): StoredManifest {
  const list = new SegmentList();
  const entries = mapValues(locales, (entry) => list.store(entry));
  return { ...manifest, segments: list.segments, locales: entries };
}

/** The segments of some locales, each once. */
export class SegmentList {
  readonly segments: SegmentEntry[];
  readonly #indexes: Map<string, number>;

  constructor(segments: readonly SegmentEntry[] = []) {
    this.segments = [...segments];
    this.#indexes = new Map(segments.map((segment, index) => [String(segment), index]));
  }

  /** Converts a locale, and adds those of its segments that are not listed. */
  store({ coverage, bodies, own }: LocaleEntry): StoredEntry {
    const store = ({ sha256, segments }: Body): StoredBody => [
      sha256,
      ...segments.map((segment) => this.#indexOf(segment)),
    ];
    return {
      coverage,
      bodies: mapValues(bodies, (codings) => mapValues(codings, store)),
      own,
    };
  }

  #indexOf(segment: Segment): number {
    const stored = entryOf(segment);
    const key = String(stored);
    const index = this.#indexes.get(key) ?? this.segments.push(stored) - 1;
    this.#indexes.set(key, index);
    return index;
  }
}

function entryOf(segment: Segment): SegmentEntry {
  if ("inline" in segment) return segment.inline;
  const { blob, bytes, isDeflated } = segment;
  return isDeflated ? [blob, bytes, isDeflated] : [blob, bytes];
}

/** Converts a stored manifest that is known to have the right shape, each locale when it is first read. */
export function fromStored({ segments, locales, ...manifest }: StoredManifest): Manifest {
  const entries = mapLazily(locales, (stored) => readEntry(segments, stored));
  return { ...manifest, format: MANIFEST_FORMAT, locales: entries };
}

/** Converts a stored locale. */
export function readEntry(
  segments: readonly SegmentEntry[],
  { coverage, bodies, own }: StoredEntry,
): LocaleEntry {
  const segmentAt = (index: number): Segment => {
    const stored = segments[index];
    if (stored === undefined) throw new Error("a segment is not listed");
    if (typeof stored === "string") return { inline: stored };
    const [blob, length, isDeflated] = stored;
    return { blob, bytes: length, ...(isDeflated && { isDeflated }) };
  };
  const readBody = ([sha256, ...indexes]: StoredBody): Body =>
    bodyOf(sha256, indexes.map(segmentAt));
  const forms = mapValues(bodies, (codings) => mapValues(codings, readBody));
  const message = forms["proto"]?.["identity"];
  if (message === undefined) throw new Error("a locale has no message");
  const { sha256, bytes } = message;
  return {
    sha256,
    bytes,
    coverage,
    bodies: forms as LocaleEntry["bodies"], // of the same forms
    own,
  };
}

/** A body that is those segments. */
export function bodyOf(sha256: string, segments: Body["segments"]): Body {
  const bytes = segments.reduce((sum, segment) => sum + bytesOf(segment), 0);
  return { sha256, bytes, segments };
}

function bytesOf(segment: Segment): number {
  return "blob" in segment ? segment.bytes : Buffer.byteLength(segment.inline, "base64");
}

function mapValues<T, U>(
  values: { readonly [name: string]: T },
  map: (value: T) => U,
): { readonly [name: string]: U } {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, map(value)]));
}

/** Maps each value once, when it is first read: the first request of an isolate needs one locale. */
export function mapLazily<T, U>(
  values: { readonly [name: string]: T },
  map: (value: T) => U,
): { readonly [name: string]: U } {
  const mapped: { readonly [name: string]: U } = {};
  for (const name of Object.keys(values)) defineLazily(mapped, name, () => map(values[name] as T)); // it has the name
  return mapped;
}

/** Defines a property whose value is made when it is first read. */
export function defineLazily(target: object, name: string, make: () => unknown): void {
  Object.defineProperty(target, name, {
    configurable: true,
    enumerable: true,
    get() {
      const value = make();
      Object.defineProperty(target, name, { value });
      return value;
    },
  });
}
