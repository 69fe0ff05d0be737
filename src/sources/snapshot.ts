import type { OpenSnapshotFile } from "./reference.ts";

/** The embedded snapshot: its files as they are bundled (gzip), by name. */
export interface Snapshot {
  readonly files: { readonly [name: string]: ArrayBuffer };
  /** SHA-256 (hex) over the names and hashes of all files. */
  readonly sha256: string;
  /** Locales that the snapshot has region names for, with their coverage (0 to 1). */
  readonly locales: readonly SnapshotLocale[];
  readonly sources: readonly SnapshotSource[];
}

/** Data that the snapshot was made from. */
export interface SnapshotSource {
  /** Such as `OurAirports: airports`. */
  readonly what: string;
  /** The day that its content is of, `YYYY-MM-DD`. */
  readonly as_of: string;
  /** The upstream file that the snapshot has of it. */
  readonly table?: string | undefined;
}

export interface SnapshotLocale {
  readonly locale: string;
  readonly coverage: number;
  /** Whether it is published where the configuration says `default`. */
  readonly default: boolean;
}

/** Opens the files of a snapshot, uncompressed. */
export function snapshotOpener(snapshot: Snapshot): OpenSnapshotFile {
  return (name) => {
    const bytes = snapshot.files[name];
    if (bytes === undefined) throw new Error(`the snapshot has no file ${name}`);
    return gunzip(new Blob([bytes]).stream());
  };
}

/** The bytes of a gzip stream, uncompressed. */
export function gunzip(bytes: ReadableStream<Uint8Array>): ReadableStream<Uint8Array> {
  return bytes.pipeThrough(new DecompressionStream("gzip"));
}
