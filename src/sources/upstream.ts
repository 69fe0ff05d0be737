import type { Day, Sha256Hex } from "../platform/units.ts";
import type { UpstreamReader } from "./upstream-reader.ts";
import { ourAirports } from "./our-airports.ts";
import type { Snapshot } from "./snapshot.ts";
import { TABLES } from "./source-file.ts";

export interface Validators {
  /** Opaque origin of the file. Validators are valid only for this origin. */
  readonly origin?: string;
  readonly etag?: string;
  readonly last_modified?: string;
}

export interface NewUpstreamFile extends Validators {
  readonly name: string;
  /** Date of the data; absent if unknown. */
  readonly as_of?: Day;
  readonly bytes: Uint8Array;
}

/** A file that is unchanged since it was archived. */
interface UnchangedUpstreamFile {
  readonly name: string;
  readonly as_of?: Day;
  readonly unchangedSha256: Sha256Hex;
}

export type UpstreamFile = NewUpstreamFile | UnchangedUpstreamFile;

interface ArchivedFile extends Validators {
  readonly sha256: Sha256Hex;
}

export type ArchivedFiles = { readonly [name: string]: ArchivedFile };

export interface Upstream {
  /** Reads the files that `fetch` gives. */
  readonly reader: UpstreamReader;
  /**
   * Fetches the current files. Throws if one is unavailable.
   *
   * @param archived files that need not be sent again if unchanged. Their bytes must be readable.
   * @param as_of date of the data in the request, for files without one.
   */
  fetch(archived?: ArchivedFiles, as_of?: Day): Promise<UpstreamFile[]>;
}

export const EMBEDDED = "embedded";

/** Reads airports and regions from the embedded snapshot, without a network. */
export function embeddedUpstream(snapshot: Snapshot) {
  return {
    reader: ourAirports,
    fetch: () =>
      Promise.all(
        TABLES.map(async (table) => {
          const source = snapshot.sources.find((candidate) => candidate.table === table);
          if (source === undefined) throw new Error(`the snapshot has no source of ${table}`);
          const name = `${table}.gz`;
          return { name, bytes: new Uint8Array(await snapshot.read(name)), as_of: source.as_of };
        }),
      ),
  };
}
