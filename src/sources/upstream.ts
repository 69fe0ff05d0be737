import type { Snapshot } from "./snapshot.ts";
import { TABLES } from "./source-file.ts";

/** What tells one version of a file from another. */
export interface Validators {
  /** Where the file came from, as a text to compare: validators hold for this place only. */
  readonly origin?: string;
  readonly etag?: string;
  readonly last_modified?: string;
}

/** A file as upstream gave it. */
export interface NewUpstreamFile extends Validators {
  readonly name: string;
  /** The day that its content is of, `YYYY-MM-DD`; absent if nobody knows. */
  readonly as_of?: string;
  readonly bytes: Uint8Array;
}

/** A file that has not changed since its bytes of this SHA-256 (hex) were archived. */
export interface UnchangedUpstreamFile {
  readonly name: string;
  /** The day that its content is of, `YYYY-MM-DD`. */
  readonly as_of: string;
  readonly unchangedSha256: string;
}

export type UpstreamFile = NewUpstreamFile | UnchangedUpstreamFile;

/** What is remembered of a file whose bytes are archived. */
export interface ArchivedFile extends Validators {
  /** SHA-256 (hex) of its bytes. */
  readonly sha256: string;
}

/** Archived files by their names. */
export type ArchivedFiles = { readonly [name: string]: ArchivedFile };

/** Where airports and regions come from. */
export interface Upstream {
  readonly name: string;
  /**
   * The files as they are now. Throws if one cannot be had.
   *
   * @param archived files that need not be sent again if they have not changed. Name only those
   * whose bytes can still be read.
   */
  fetch(archived?: ArchivedFiles): Promise<UpstreamFile[]>;
}

/** An upstream that gives the bytes of all files each time. */
export interface WholeUpstream extends Upstream {
  fetch(archived?: ArchivedFiles): Promise<NewUpstreamFile[]>;
}

/** Name of the upstream that gives what the snapshot has. */
export const EMBEDDED = "embedded";

/** The airports and regions of the embedded snapshot: works without a network. */
export function embeddedUpstream(snapshot: Snapshot): WholeUpstream {
  return {
    name: EMBEDDED,
    fetch: async () =>
      TABLES.map((table) => {
        const name = `${table}.gz`;
        const bytes = snapshot.files[name];
        if (bytes === undefined) throw new Error(`the snapshot has no file ${name}`);
        const source = snapshot.sources.find((each) => each.table === table);
        if (source === undefined) throw new Error(`the snapshot has no source of ${table}`);
        return { name, bytes: new Uint8Array(bytes), as_of: source.as_of };
      }),
  };
}
