/** An upstream on loopback with a small world: the real one takes many seconds to compress. */
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { gunzipSync } from "node:zlib";
import { readSnapshotRows } from "./forgetful-snapshot.ts";
import { type Behavior, file, UpstreamServer } from "./upstream-server.ts";

const SMALL_AIRPORTS = 400;

/** Airports that are served then: the snapshot adds those that upstream did not list. */
export const SERVED_AIRPORTS = SMALL_AIRPORTS + addedBySnapshot();

function addedBySnapshot(): number {
  const ids = readSnapshotRows("airports.csv.gz").map(({ id }) => id);
  const absent = new Set(ids.slice(SMALL_AIRPORTS));
  return readSnapshotRows("airport-corrections.csv.gz").filter(
    ({ id, iata_code }) => iata_code === "" && absent.has(id),
  ).length;
}

export interface SmallUpstream {
  /** Settings of a service that takes its airports and regions from here. */
  readonly vars: { readonly [setting: string]: string };
  /** Serves another airports.csv from now on. */
  change(edit: (airports: string) => string): void;
  stop(): Promise<void>;
}

export async function startSmallUpstream(count = SMALL_AIRPORTS): Promise<SmallUpstream> {
  const server = await UpstreamServer.start();
  const rows = snapshotText("airports.csv.gz").split("\n");
  const airports = `${rows.slice(0, 1 + count).join("\n")}\n`;
  server.on("/airports.csv", datedFile(airports));
  server.on("/regions.csv", datedFile(snapshotText("regions.csv.gz")));
  const urls = [server.url("/airports.csv"), server.url("/regions.csv")];
  return {
    // Most of the snapshot's airports are gone here.
    vars: {
      SOURCE: "ourairports",
      SOURCE_URLS: urls.join(","),
      SURPRISE_HOLD_MS: "0",
      SURPRISE_UNLISTED_PERCENT: "100",
    },
    change: (edit) => server.on("/airports.csv", datedFile(edit(airports))),
    stop: () => server.stop(),
  };
}

/** Serves a file that was changed now. */
function datedFile(content: string): Behavior {
  const etag = `"${createHash("sha256").update(content).digest("hex")}"`;
  return file(content, { etag, "last-modified": new Date().toUTCString() });
}

function snapshotText(name: string): string {
  return gunzipSync(readFileSync(`data/snapshot/${name}`)).toString();
}
