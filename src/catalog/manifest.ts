/**
 * The manifest: which bytes make up the published catalog.
 *
 * A body is not stored whole. It is the concatenation of segments: bytes common to all locales,
 * bytes of one locale, and a few bytes of framing that stand in the manifest itself. Each coding
 * is made so that its segments concatenate, so that the large common part is encoded, compressed
 * and stored once for all locales.
 */

/** Wire forms made at publishing time. `grpc-web-text` is `grpc-web` in base64. */
export const REPRESENTATIONS = ["proto", "json", "grpc-web", "grpc-web-text"] as const;
export type Representation = (typeof REPRESENTATIONS)[number];

/** Content codings, smallest body first. */
export const CODINGS = ["br", "gzip", "identity"] as const;
export type Coding = (typeof CODINGS)[number];

/** A run of bytes of a body: a stored blob by the SHA-256 (hex) of its bytes, or base64 in place. */
export type Segment =
  { readonly blob: string; readonly bytes: number } | { readonly inline: string };

/** A whole HTTP body in one coding. `sha256` (hex) and `bytes` are those of the body as sent. */
export interface Body {
  readonly sha256: string;
  readonly bytes: number;
  readonly segments: readonly Segment[];
}

/** The bodies of one locale. A coding that is absent was not published; `identity` always is. */
export type Bodies = {
  readonly [R in Representation]: { readonly [C in Coding]?: Body };
};

/** What is published for one locale. */
export interface LocaleEntry {
  /** SHA-256 (hex) of the identity protobuf message. */
  readonly sha256: string;
  /** Length of the identity protobuf message. */
  readonly bytes: number;
  /** Share of airports whose subdivision has a name in this locale, 0 to 1. */
  readonly coverage: number;
  readonly bodies: Bodies;
}

/** Length of each list; the same in every locale. */
export interface Counts {
  readonly airports: number;
  readonly cities: number;
  readonly countries: number;
  readonly regions: number;
}

/** Data that the catalog was made from. */
export interface DataSource {
  /** Such as `OurAirports: airports`, or an upstream's file: `ourairports: airports.csv`. */
  readonly name: string;
  /** The day that its content is of, `YYYY-MM-DD`. */
  readonly as_of: string;
}

/** Which airports are published: all, or those with scheduled service only. */
export const AIRPORT_SETS = ["all", "scheduled"] as const;
export type AirportSet = (typeof AIRPORT_SETS)[number];

export interface Manifest {
  readonly format: 1;
  /** Rises with every publication, also with a rollback. */
  readonly generation: number;
  /** RFC 3339, UTC, milliseconds. */
  readonly published_at: string;
  /** SHA-256 (hex) over every locale and its message hash: equal exactly if the content is. */
  readonly catalog_sha256: string;
  /** SHA-256 (hex) of each archived upstream file that the catalog was built from. */
  readonly sources: { readonly [file: string]: string };
  /** The day that the airports are of, `YYYY-MM-DD`; null if nobody has recorded it. */
  readonly as_of: string | null;
  /** All that the catalog was made from; empty if nobody has recorded it. */
  readonly data: readonly DataSource[];
  readonly airport_set: AirportSet;
  readonly counts: Counts;
  /** Generation to fall back to when this one's blobs cannot be read; null for the first. */
  readonly previous: number | null;
  readonly locales: { readonly [locale: string]: LocaleEntry };
}

/** What manifests say that lack these fields: they were made before there were any. */
export const UNRECORDED = {
  as_of: null,
  data: [],
  airport_set: "all",
} as const satisfies Partial<Manifest>;

/** SHA-256 (hex) of every blob that a manifest names. */
export function manifestBlobs(manifest: Manifest): ReadonlySet<string> {
  const blobs = new Set<string>();
  for (const { bodies } of Object.values(manifest.locales))
    for (const codings of Object.values(bodies))
      for (const body of Object.values(codings))
        for (const segment of body.segments) if ("blob" in segment) blobs.add(segment.blob);
  return blobs;
}
