import { acceptUpstream } from "../acceptance/accept.ts";
import type { Ledger } from "../acceptance/airport.ts";
import { applyCorrections, type Correction, firstLedger } from "../acceptance/corrections.ts";
import type { Decision } from "../acceptance/held-change.ts";
import {
  ACCEPTED_FILE,
  decodeAccepted,
  decodeHeld,
  encodeFile,
  HELD_FILE,
  type LedgerFiles,
} from "../acceptance/ledger-files.ts";
import type { Places, SurpriseLimits } from "../acceptance/surprises.ts";
import { type AirportsRead, readAirports, type SourceAirport } from "../sources/our-airports.ts";
import {
  type OpenSnapshotFile,
  readColumn,
  readCountries,
  readRegions,
} from "../sources/reference.ts";
import { EMBEDDED } from "../sources/upstream.ts";
import type { SourceArchive } from "../storage/source-archive.ts";
import { timeText } from "../storage/time-text.ts";
import { archiveFile } from "./fetch-sources.ts";
import type { RunMode } from "./run.ts";
import { openTable } from "./workspace.ts";

export interface AcceptDependencies {
  readonly archive: Pick<SourceArchive, "open" | "has" | "write">;
  readonly openSnapshot: OpenSnapshotFile;
  readonly limits: SurpriseLimits;
  readonly now: () => number;
}

export interface AcceptRequest {
  /** Name of the upstream. The airports of the embedded one are accepted as they are. */
  readonly source: string;
  /** SHA-256 (hex) of each archived upstream file. */
  readonly sources: { readonly [file: string]: string };
  /** The ledger to compare with; null for that of the snapshot. */
  readonly ledger: LedgerFiles | null;
  readonly decisions: readonly Decision[];
  readonly mode: RunMode;
  readonly runId: string;
}

/** What an ingest accepts of upstream's airports. */
export interface AcceptedSources {
  /** SHA-256 (hex) of the archived files of the new ledger. */
  readonly files: { readonly [file: string]: string };
  readonly before: Ledger;
  readonly after: Ledger;
  /** The account of upstream's file. */
  readonly read: Omit<AirportsRead, "airports">;
}

/**
 * Reads upstream's airports, takes over or holds back each change, and archives the result.
 *
 * @throws SourceError if the file is unusable, and StoreError if the archive fails.
 */
export async function acceptSources(
  deps: AcceptDependencies,
  request: AcceptRequest,
): Promise<AcceptedSources> {
  const countries = new Set((await readCountries(deps.openSnapshot)).map((each) => each.isoCode2));
  const { openSnapshot } = deps;
  const snapshot = await readAirports(openSnapshot("airports.csv.gz"), countries);
  const corrections = await readCorrections(openSnapshot, countries, snapshot.airports);
  const isTrusted = request.source === EMBEDDED;
  const stored = isTrusted || request.ledger === null ? null : await read(deps, request.ledger);
  const known = stored ?? firstLedger(snapshot.airports);
  const upstream = await readAirports(
    await openTable("airports.csv", request.sources, (file, sha256) =>
      deps.archive.open(file, sha256),
    ),
    countries,
    known.accepted.airports,
  );
  const { airports, ...account } = upstream;
  const made = { at: timeText(deps.now()), runId: request.runId };
  const before = applyCorrections(isTrusted ? firstLedger(airports) : known, corrections, made);
  const after = isTrusted
    ? before
    : acceptUpstream({
        ledger: before,
        upstream,
        decisions: request.decisions,
        limits: deps.limits,
        places: await readPlaces(openSnapshot, snapshot.airports),
        now: deps.now(),
        runId: request.runId,
      });
  const files = {
    [ACCEPTED_FILE]: await archiveFile(deps.archive, encodeFile(after.accepted), request.mode),
    [HELD_FILE]: await archiveFile(deps.archive, encodeFile(after.held), request.mode),
  };
  return { files, before, after, read: account };
}

async function read(
  { archive: files }: AcceptDependencies,
  { accepted, held }: LedgerFiles,
): Promise<Ledger> {
  return {
    accepted: await decodeAccepted(await files.open(ACCEPTED_FILE, accepted)),
    held: await decodeHeld(await files.open(HELD_FILE, held)),
  };
}

/** Reads the rows of upstream that the snapshot corrects. */
async function readCorrections(
  open: OpenSnapshotFile,
  countries: ReadonlySet<string>,
  airports: readonly SourceAirport[],
): Promise<Correction[]> {
  const file = "airport-corrections.csv.gz";
  const { airports: written } = await readAirports(open(file), countries);
  const writtenById = new Map(written.map((airport) => [airport.id, airport]));
  const oursById = new Map(airports.map((airport) => [airport.id, airport]));
  return (await readColumn(open, file, "id")).map((id) => ({
    id,
    written: writtenById.get(id),
    ours: oursById.get(id),
  }));
}

/** Reads what the reference tables know of airports and regions. */
async function readPlaces(
  open: OpenSnapshotFile,
  airports: readonly SourceAirport[],
): Promise<Places> {
  const known = new Set(airports.map(({ id }) => id));
  const keys = new Map<string, string>();
  for (const { key, members } of await readRegions(open))
    if (key.startsWith("iso3166-")) for (const member of members) keys.set(member, key);
  return {
    hasKnownCity: (id) => known.has(id),
    // Upstream's codes for what is in no subdivision end in "U-A".
    regionOf: (code) =>
      keys.get(code) ?? (code.endsWith("-U-A") ? (keys.get(code.slice(0, 2)) ?? "") : code),
  };
}
