import { firstLedger } from "../../src/acceptance/airport.ts";
import { ACCEPTED_FILE, encodeFile } from "../../src/ingest/ledger-files.ts";
import type { AirportSet } from "../../src/parts/manifest.ts";
import { createWorkspace, type Workspace } from "../../src/ingest/workspace.ts";
import { readAirports, readSubdivisions } from "../../src/sources/our-airports.ts";
import { readCountries } from "../../src/sources/reference.ts";
import { decodeFile } from "../../src/sources/source-file.ts";
import { type Snapshot, snapshotOpener } from "../../src/sources/snapshot.ts";
import { streamOf } from "./source.ts";

/** The workspace of upstream files, of which every airport and name of a subdivision is accepted. */
export async function acceptedWorkspace(
  files: { readonly [name: string]: string | Uint8Array },
  snapshot: Snapshot,
  airportSet?: AirportSet,
): Promise<Workspace> {
  const openSnapshot = snapshotOpener(snapshot);
  const countries = new Set((await readCountries(openSnapshot)).map(({ isoCode2 }) => isoCode2));
  const name = files["airports.csv"] === undefined ? "airports.csv.gz" : "airports.csv";
  const bytes = await decodeFile(name, streamOf(files[name] ?? ""));
  const { airports } = await readAirports(bytes, countries);
  const { accepted } = firstLedger(airports);
  const wanted = new Set(airports.map(({ region }) => region));
  const { names: regions } = await readSubdivisions(
    streamOf(files["regions.csv"] ?? "code,name\n"),
    wanted,
  );
  const all: { readonly [name: string]: string | Uint8Array } = {
    ...files,
    [ACCEPTED_FILE]: encodeFile({ ...accepted, regions: Object.fromEntries(regions) }),
  };
  const names = Object.fromEntries(Object.keys(all).map((each) => [each, each]));
  const open = async (file: string) => streamOf(all[file] ?? "");
  return createWorkspace(names, open, openSnapshot, airportSet);
}
