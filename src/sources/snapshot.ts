import type { OpenSnapshotFile } from "./reference.ts";

/** The embedded snapshot with its gzipped files by name. */
export interface Snapshot {
  readonly files: { readonly [name: string]: ArrayBuffer };
  /** SHA-256 (hex) over the names and hashes of all files. */
  readonly sha256: string;
  /** Locales with region names, and their coverage (0 to 1). */
  readonly locales: readonly SnapshotLocale[];
  readonly sources: readonly SnapshotSource[];
}

/** A source of the snapshot. */
export interface SnapshotSource {
  /** Name, such as `OurAirports: airports`. */
  readonly what: string;
  /** Date of the data, `YYYY-MM-DD`. */
  readonly as_of: string;
  /** Upstream file in the snapshot. */
  readonly table?: string | undefined;
}

export interface SnapshotLocale {
  readonly locale: string;
  readonly coverage: number;
}

/** Returns a function that opens files of the snapshot, uncompressed. */
export function snapshotOpener(snapshot: Snapshot): OpenSnapshotFile {
  return (name) => {
    const bytes = snapshot.files[name];
    if (bytes === undefined) throw new Error(`the snapshot has no file ${name}`);
    return gunzip(new Blob([bytes]).stream());
  };
}

/** Decompresses gzip. */
export function gunzip(bytes: ReadableStream<Uint8Array>): ReadableStream<Uint8Array> {
  return bytes.pipeThrough(new DecompressionStream("gzip"));
}
