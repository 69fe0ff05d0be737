import type { Day, Sha256Hex } from "../platform/units.ts";
import type { OpenSnapshotFile } from "./reference.ts";

export interface Snapshot {
  /** Reads a gzipped file by its name in the manifest. Throws if there is none. */
  read(name: string): Promise<ArrayBuffer>;
  /** Over the names and hashes of all files. */
  readonly sha256: Sha256Hex;
  /** Locales with region names, and their coverage (0 to 1). */
  readonly locales: readonly SnapshotLocale[];
  readonly sources: readonly SnapshotSource[];
}

export interface SnapshotSource {
  /** Name, such as `OurAirports: airports`. */
  readonly what: string;
  readonly as_of: Day;
  /** Upstream file in the snapshot. */
  readonly table?: string | undefined;
}

/** Whether a source has the snapshot's airports. An upstream of another kind has other airports. */
export function hasAirports({ table }: SnapshotSource): boolean {
  return table === "airports.csv";
}

export interface SnapshotLocale {
  readonly locale: string;
  readonly coverage: number;
}

/** Returns a function that opens files of the snapshot, uncompressed. */
export function snapshotOpener(snapshot: Snapshot): OpenSnapshotFile {
  return async (name) => gunzip(new Blob([await snapshot.read(name)]).stream());
}

export function gunzip(bytes: ReadableStream<Uint8Array>): ReadableStream<Uint8Array> {
  return bytes.pipeThrough(new DecompressionStream("gzip"));
}
