import type { Snapshot } from "./snapshot.ts";

/** A file as upstream gave it. */
export interface UpstreamFile {
  readonly name: string;
  readonly bytes: Uint8Array;
}

/** Where airports and regions come from. */
export interface Upstream {
  readonly name: string;
  /** Throws if a file cannot be had. */
  fetch(): Promise<UpstreamFile[]>;
}

/** The airports and regions of the embedded snapshot: works without a network. */
export function embeddedUpstream(snapshot: Snapshot): Upstream {
  return {
    name: "embedded",
    fetch: async () =>
      ["airports.csv.gz", "regions.csv.gz"].map((name) => {
        const bytes = snapshot.files[name];
        if (bytes === undefined) throw new Error(`the snapshot has no file ${name}`);
        return { name, bytes: new Uint8Array(bytes) };
      }),
  };
}
