/**
 * The manifest lists the bytes of the published catalog.
 *
 * A body consists of segments: bytes that all locales share, bytes of one locale, and a few bytes of
 * framing inside the manifest. Segments of each coding can be concatenated, so the large common
 * part is encoded, compressed and stored once for all locales.
 */

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

/** A part of a body: a stored blob by its SHA-256 (hex) or some bytes of it, or inline base64. */
export type Segment =
  | { readonly blob: string; readonly bytes: number; readonly start?: number }
  | { readonly inline: string };

/** An HTTP body in one coding. `sha256` (hex) and `bytes` describe the body as sent. */
export interface Body {
  readonly sha256: string;
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
}

/** Length of each list, equal in every locale. */
export interface Counts {
  readonly airports: number;
  readonly cities: number;
  readonly countries: number;
  readonly regions: number;
}

/** A source of the catalog. */
export interface DataSource {
  /** Name, such as `OurAirports: airports`, or an upstream's file: `ourairports: airports.csv`. */
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

/** The bodies of a version in the coding `dcz`, with those of an earlier version as dictionaries. */
export interface StoredDeltas {
  /** Blob of all of them. */
  readonly blob: string;
  readonly locales: {
    readonly [locale: string]: { readonly [F in (typeof DELTA_FORMS)[number]]?: StoredDelta };
  };
}

/** Some bytes of the blob. */
export interface StoredDelta {
  /** SHA-256 (hex). */
  readonly dictionary: string;
  readonly start: number;
  readonly bytes: number;
}

/** Published airports: all, or only those with scheduled service. */
export const AIRPORT_SETS = ["all", "scheduled"] as const;
export type AirportSet = (typeof AIRPORT_SETS)[number];

export interface Manifest {
  readonly format: 1;
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
export function manifestBlobs(manifest: Manifest): ReadonlySet<string> {
  const diffs = manifest.diffs.flatMap(({ common, local, deltas }) => [
    common,
    ...Object.values(local),
    ...(deltas === null ? [] : [deltas.blob]),
  ]);
  return new Set([...bodyBlobs(manifest), ...diffs]);
}

/** Lists the SHA-256 (hex) of the blobs of a manifest's bodies. */
export function bodyBlobs({ locales }: Manifest): ReadonlySet<string> {
  const blobs = new Set<string>();
  for (const { bodies } of Object.values(locales))
    for (const codings of Object.values(bodies))
      for (const body of Object.values(codings))
        for (const segment of body.segments) if ("blob" in segment) blobs.add(segment.blob);
  return blobs;
}
