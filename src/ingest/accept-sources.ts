import { acceptUpstream, trustUpstream } from "../acceptance/accept.ts";
import { firstLedger } from "../acceptance/airport.ts";
import type { Correction } from "../acceptance/corrections.ts";
import type { Decision } from "../acceptance/held-change.ts";
import {
  ACCEPTED_FILE,
  encodeFile,
  HELD_FILE,
  type LedgerFiles,
  readLedger,
} from "../acceptance/ledger-files.ts";
import { countListed, type Listed } from "../acceptance/identity.ts";
import type { RegionOf } from "../acceptance/rules.ts";
import { type AirportsRead, readAirports, type SourceAirport } from "../sources/our-airports.ts";
import { readRegionNames } from "../sources/our-regions.ts";
import {
  type OpenSnapshotFile,
  readColumn,
  readCountries,
  readRegions,
  type ReferenceRegion,
} from "../sources/reference.ts";
import type { Reject } from "../sources/rejects.ts";
import { EMBEDDED } from "../sources/upstream.ts";
import type { SourceArchive } from "../storage/source-archive.ts";
import { summarizeHeld } from "./accounting.ts";
import { subdivisionsWithout } from "./build.ts";
import { archiveFile } from "./fetch-sources.ts";
import type { RunMode } from "./report.ts";
import { openTable, readSnapshotNames } from "./workspace.ts";

/** How long changes are held, and how many airports a file may lack. */
export interface SurpriseLimits {
  /** Time for which upstream must say the same. */
  readonly holdMs: number;
  /** Share of the airports in use, in percent, that a whole file may lack. */
  readonly unlistedPercent: number;
}

interface AcceptDependencies {
  readonly archive: Pick<SourceArchive, "open" | "read" | "write">;
  readonly openSnapshot: OpenSnapshotFile;
  readonly limits: SurpriseLimits;
  readonly now: () => number;
}

interface AcceptRequest {
  /** Name of the upstream. The airports of the embedded one are accepted as they are. */
  readonly source: string;
  /** SHA-256 (hex) of each archived upstream file. */
  readonly sources: { readonly [file: string]: string };
  /** The ledger to compare with, and earlier ones, should it be lost. None: the snapshot's. */
  readonly ledgers: readonly LedgerFiles[];
  readonly decisions: readonly Decision[];
  readonly mode: RunMode;
  readonly runId: string;
}

/** The airports of upstream that an ingest accepts. */
interface AcceptedSources {
  /** SHA-256 (hex) of the archived files of the new ledger. */
  readonly files: { readonly [file: string]: string };
  readonly held: ReturnType<typeof summarizeHeld>;
  /** Rows of the file, and of the one that was compared before it; null if none was. */
  readonly fileRows: { readonly before: number | null; readonly after: number };
  /** Airports of the ledger that travellers use, and those of them with a row in the file. */
  readonly listed: Listed;
  /** The account of upstream's file. */
  readonly read: Omit<AirportsRead, "airports">;
  /** Rejected rows of regions.csv. */
  readonly regionRejects: readonly Reject[];
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
  const { openSnapshot, limits, now } = deps;
  const { source, sources, decisions, mode, runId } = request;
  const countries = new Set((await readCountries(openSnapshot)).map(({ isoCode2 }) => isoCode2));
  const corrections = await readCorrections(openSnapshot, countries);
  const isTrusted = source === EMBEDDED;
  const regions = await readRegions(openSnapshot);
  const read = await readLedger(deps.archive, request.ledgers);
  const known =
    read.ledger ?? firstLedger((await readSnapshotAirports(openSnapshot, countries)).airports);
  const open = (file: string, sha256: string) => deps.archive.open(file, sha256);
  const rows = await readAirports(
    await openTable("airports.csv", sources, open),
    countries,
    known.accepted.airports,
  );
  const { airports, ...account } = rows;
  const codes = codesWithoutRegion([...airports, ...known.accepted.airports], regions);
  const named = await readRegionNames(await openTable("regions.csv", sources, open), codes);
  const upstream = { ...rows, regions: named.names };
  const { holdMs } = limits;
  const run = { ledger: known, corrections, decisions, holdMs, now: now(), runId, source };
  const before = isTrusted ? trustUpstream(run, upstream) : known;
  const after = isTrusted
    ? before
    : acceptUpstream({
        ...run,
        upstream,
        regionNames: (await readSnapshotNames(openSnapshot, codes)).names,
        regionOf: regionKeys(regions),
      });
  const files = {
    [ACCEPTED_FILE]: await archiveFile(deps.archive, encodeFile(after.accepted), mode),
    [HELD_FILE]: await archiveFile(deps.archive, encodeFile(after.held), mode),
  };
  return {
    files,
    held: { ...summarizeHeld(before, after), ...(read.isLost && { ledger_lost: true }) },
    fileRows: { before: isTrusted ? null : before.accepted.rows, after: account.seen },
    listed: countListed(before.accepted.airports, upstream, limits.unlistedPercent),
    read: account,
    regionRejects: named.rejects,
  };
}

/** The subdivisions of airports that the snapshot has no region for, so that their names count. */
function codesWithoutRegion(
  airports: readonly SourceAirport[],
  regions: readonly ReferenceRegion[],
): ReadonlySet<string> {
  const isWithoutRegion = subdivisionsWithout(regions);
  return new Set(airports.map(({ region }) => region).filter(isWithoutRegion));
}

async function readSnapshotAirports(open: OpenSnapshotFile, countries: ReadonlySet<string>) {
  return readAirports(await open("airports.csv.gz"), countries);
}

/** Reads what the snapshot corrects. Separate, so the tables can be collected before the comparison. */
async function readCorrections(
  open: OpenSnapshotFile,
  countries: ReadonlySet<string>,
): Promise<readonly Correction[]> {
  const file = "airport-corrections.csv.gz";
  const { airports } = await readSnapshotAirports(open, countries);
  const { airports: written } = await readAirports(await open(file), countries);
  const writtenById = new Map(written.map((airport) => [airport.id, airport]));
  const oursById = new Map(airports.map((airport) => [airport.id, airport]));
  return (await readColumn(open, file, "id")).map((id) => ({
    id,
    written: writtenById.get(id),
    ours: oursById.get(id),
  }));
}

/** Returns which region of the catalog has upstream's code. */
export function regionKeys(regions: readonly ReferenceRegion[]): RegionOf {
  const keys = new Map<string, string>();
  for (const { key, members } of regions)
    if (key.startsWith("iso3166-")) for (const member of members) keys.set(member, key);
  return (code) => {
    // Upstream's codes for what is in no subdivision end in "U-A"; a territory may be undivided.
    const isDummy = code.endsWith("-U-A");
    return keys.get(isDummy ? code.slice(0, 2) : code) ?? (isDummy ? "" : code);
  };
}
