/**
 * The manifest lists the parts of a version. `compose.ts` makes every body from them. A shared part,
 * which is large, is encoded, compressed and stored once.
 */
import type { Form } from "../catalog/encode.ts";
import type { Counts } from "../catalog/model.ts";
import type { Day, Instant, Sha256Hex } from "../platform/units.ts";

/** Content codings, smallest body first. */
export const CODINGS = ["br", "gzip", "identity"] as const;
export type Coding = (typeof CODINGS)[number];

export interface StoredPart {
  readonly sha256: Sha256Hex;
  readonly bytes: number;
}

/**
 * The shared parts: airports, cities and countries. A part in brotli depends on its position, so there
 * is one for the start of a body, and one that follows the header of a gRPC-Web frame. A runtime that
 * cannot make them publishes none.
 */
export interface SharedParts {
  readonly identity: StoredPart;
  readonly gzip: StoredPart;
  readonly br?: StoredPart | undefined;
  readonly brInFrame?: StoredPart | undefined;
}

/** The locale parts: the regions. */
export interface LocaleParts {
  /** Length without a coding. The part is stored in gzip only, and inflated. */
  readonly bytes: number;
  readonly gzip: StoredPart;
  readonly br?: StoredPart | undefined;
  /** SHA-256 of the whole message in each coding. */
  readonly digests: {
    readonly identity: Sha256Hex;
    readonly gzip: Sha256Hex;
    readonly br?: Sha256Hex | undefined;
  };
  /** CRC-32 of the message, and of the message in its gRPC-Web frames. */
  readonly crc32: { readonly message: number; readonly framed: number };
}

/** The published content of one locale. */
export interface LocaleEntry {
  /** Share of airports whose subdivision has a name in this locale, 0 to 1. */
  readonly coverage: number;
  readonly parts: { readonly [F in Form]: LocaleParts };
  /** `PackedNames` in brotli. A version of the previous release has none. */
  readonly names?: StoredPart | undefined;
}

export interface DataSource {
  /** Name, such as `OurAirports: airports`; for a file of upstream, the source and the file's name. */
  readonly name: string;
  readonly as_of: Day;
}

/** The changes from an earlier version to this one. Each blob has some members of a JSON object. */
export interface StoredDiff {
  /** The newest version of its content. */
  readonly generation: number;
  readonly published_at: Instant;
  readonly catalog_sha256: Sha256Hex;
  /** Blob of the lists that all locales share: `"airports":{…},"cities":{…},"countries":{…}`. */
  readonly common: Sha256Hex;
  /** Blob of the regions of each locale: `"regions":{…}`. */
  readonly local: { readonly [locale: string]: Sha256Hex };
}

/** Published airports: all, or only those with scheduled service. */
export const AIRPORT_SETS = ["all", "scheduled"] as const;
export type AirportSet = (typeof AIRPORT_SETS)[number];

/**
 * Raise it with each change of the stored form or of its text in KV and R2, and let
 * `former-manifest.ts` read the previous format: a Worker serves from it until the coordinator has
 * replaced it.
 */
export const MANIFEST_FORMAT = 6;

export interface Manifest {
  readonly format: typeof MANIFEST_FORMAT;
  /** Rises with every publication, including a rollback. */
  readonly generation: number;
  readonly published_at: Instant;
  /** Hash over every locale and its message's hash. Identifies the content. */
  readonly catalog_sha256: Sha256Hex;
  /** Each archived upstream file of this version. */
  readonly sources: { readonly [file: string]: Sha256Hex };
  /** Day of the airports; null if not recorded. */
  readonly as_of: Day | null;
  /** Empty if not recorded. */
  readonly data: readonly DataSource[];
  readonly airport_set: AirportSet;
  readonly counts: Counts;
  /** The generation that was current before; null for the first. */
  readonly previous: number | null;
  /** Changes from earlier contents to this one. A rollback publishes those of its content. */
  readonly diffs: readonly StoredDiff[];
  readonly shared: { readonly [F in Form]: SharedParts };
  readonly locales: { readonly [locale: string]: LocaleEntry };
}

export type VersionContent = Omit<Manifest, "generation" | "published_at" | "previous">;

/** Returns the hash of a locale's message in protobuf, which names its content: `Catalog-Sha256`. */
export function messageSha256({ parts }: LocaleEntry): Sha256Hex {
  return parts.proto.digests.identity;
}

/** A blob that a version needs. */
export interface NeededBlob {
  readonly sha256: Sha256Hex;
  /** Null if all locales need it. */
  readonly locale: string | null;
  /** Whether a body needs it. Without any other blob, clients fetch the whole body. */
  readonly isOfBody: boolean;
}

export function neededBlobs({ shared, locales, diffs }: Manifest): readonly NeededBlob[] {
  const ofBody = (locale: string | null, parts: readonly (StoredPart | undefined)[]) =>
    parts.flatMap((part) =>
      part === undefined ? [] : [{ sha256: part.sha256, locale, isOfBody: true }],
    );
  const other = (locale: string | null, sha256: Sha256Hex) => ({
    sha256,
    locale,
    isOfBody: false,
  });
  return [
    ...Object.values(shared).flatMap((parts) => ofBody(null, Object.values(parts))),
    ...Object.entries(locales).flatMap(([locale, { parts, names }]) => [
      ...Object.values(parts).flatMap(({ gzip, br }) => ofBody(locale, [gzip, br])),
      ...(names === undefined ? [] : [other(locale, names.sha256)]),
    ]),
    ...diffs.flatMap(({ common, local }) => [
      other(null, common),
      ...Object.entries(local).map(([locale, sha256]) => other(locale, sha256)),
    ]),
  ];
}

export function blobsOf(...versions: readonly Manifest[]): ReadonlySet<Sha256Hex> {
  return new Set(versions.flatMap(neededBlobs).map(({ sha256 }) => sha256));
}
