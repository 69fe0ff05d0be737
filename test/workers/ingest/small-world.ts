/** A small world for the source `dropped`: the real one takes many seconds to compress. */
import { gunzipSync } from "node:zlib";
import { env } from "cloudflare:workers";
import { embeddedSnapshot } from "../../../src/storage/embedded-snapshot.ts";
import { dropKey } from "../../../src/storage/keys.ts";

/** Airports of the small world; three less or more are a change that the guards let pass. */
export const SMALL_AIRPORTS = 400;

const snapshot = embeddedSnapshot(env.ASSETS);

/** Date of the dropped files, as their metadata says. */
export const DROPPED_AS_OF = "2026-02-10";
const metadata = { customMetadata: { as_of: DROPPED_AS_OF } };

/** Drops the snapshot's first airports, and its regions, where an operator would. */
export async function dropAirports(count: number): Promise<void> {
  const airports = gunzipSync(await snapshot.read("airports.csv.gz"));
  const [heading = "", ...rows] = airports.toString().trimEnd().split("\n");
  const text = `${[heading, ...rows.slice(0, count)].join("\n")}\n`;
  await env.ARCHIVE.put(dropKey("airports.csv"), text, metadata);
  const regions = await snapshot.read("regions.csv.gz");
  await env.ARCHIVE.put(dropKey("regions.csv.gz"), regions, metadata);
}
