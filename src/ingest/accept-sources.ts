import { acceptUpstream, trustUpstream } from "../acceptance/accept.ts";
import { type Accepted, firstLedger } from "../acceptance/airport.ts";
import type { Decision } from "../acceptance/decisions.ts";
import {
  ACCEPTED_FILE,
  encodeFile,
  HELD_FILE,
  type LedgerFiles,
  readLedger,
} from "./ledger-files.ts";
import { countListed, type Listed } from "../acceptance/identity.ts";
import type { RegionOf } from "../acceptance/rules.ts";
import type { OpenFile, UpstreamReader } from "../sources/upstream-reader.ts";
import type { AirportsRead, Reject, SourceAirport } from "../catalog/source-airport.ts";
import {
  type OpenSnapshotFile,
  readCorrections,
  readCountries,
  readRegions,
  readSnapshotAirports,
  readSubdivisionNames,
  type ReferenceRegion,
} from "../sources/reference.ts";
import { SourceError } from "../sources/source-error.ts";
import { decodeFile, findFile } from "../sources/source-file.ts";
import { EMBEDDED } from "../sources/upstream.ts";
import type { SourceArchive } from "../storage/source-archive.ts";
import { type FileMeasure, summarizeHeld } from "./accounting.ts";
import { subdivisionsWithout } from "./build.ts";
import { archiveFile } from "./fetch-sources.ts";
import { findUnusable } from "./unusable-rows.ts";
import type { RunMode } from "../schemas/run-words.ts";
import type { DurationMs, EpochMs, Sha256Hex } from "../platform/units.ts";

/** How long changes are held, and how many airports a file may lack. */
export interface HoldLimits {
  /** Time for which upstream must say the same. */
  readonly holdMs: DurationMs;
  /** Share of the airports in use (in a first file: of all), in percent, that a whole file may lack. */
  readonly unlistedPercent: number;
}

interface AcceptDependencies {
  readonly archive: Pick<SourceArchive, "open" | "read" | "write">;
  readonly openSnapshot: OpenSnapshotFile;
  readonly limits: HoldLimits;
  readonly now: () => EpochMs;
}

interface AcceptRequest {
  /** Name of the upstream. The airports of the embedded upstream are accepted without a check. */
  readonly source: string;
  readonly reader: UpstreamReader;
  readonly sources: { readonly [file: string]: Sha256Hex };
  /** The ledger to compare with, and earlier ones in case it is lost; none for the snapshot's. */
  readonly ledgers: readonly LedgerFiles[];
  readonly decisions: readonly Decision[];
  readonly recorded?: readonly EpochMs[] | undefined;
  readonly mode: RunMode;
  readonly runId: string;
}

interface AcceptedSources {
  /** Archived files of the new ledger. */
  readonly files: { readonly [file: string]: Sha256Hex };
  readonly held: ReturnType<typeof summarizeHeld>;
  /** Null for the embedded file, which is compared with nothing. */
  readonly measure: FileMeasure | null;
  /** Airports of the ledger that travellers use, and those of them with a row in the file. */
  readonly listed: Listed;
  readonly read: Omit<AirportsRead, "airports">;
  readonly regionRejects: readonly Reject[];
}

/**
 * Reads upstream's airports, accepts or holds each change, and archives the result.
 *
 * @throws SourceError if the file is unusable, and StoreError if the archive fails.
 */
export async function acceptSources(
  deps: AcceptDependencies,
  request: AcceptRequest,
): Promise<AcceptedSources> {
  const { openSnapshot, limits, now } = deps;
  const { source, reader, sources, decisions, recorded, mode, runId } = request;
  const countries = new Set((await readCountries(openSnapshot)).map(({ isoCode2 }) => isoCode2));
  const corrections = await readCorrections(openSnapshot, countries);
  const isTrusted = source === EMBEDDED;
  const regions = await readRegions(openSnapshot);
  const read = await readLedger(deps.archive, request.ledgers);
  const known = read.ledger ?? firstLedger(await readSnapshotAirports(openSnapshot, countries));
  const open = fileOpener(deps.archive, sources);
  const rows = await reader.readAirports(open, countries, known.accepted.airports);
  const { airports, ...account } = rows;
  const codes = codesWithoutRegion([...airports, ...known.accepted.airports], regions);
  const named = await reader.readSubdivisions(open, codes);
  const upstream = { ...rows, regions: named.names };
  const { holdMs } = limits;
  const run = {
    ledger: known,
    corrections,
    decisions,
    holdMs,
    now: now(),
    recorded,
    runId,
    source,
  };
  const before = isTrusted ? trustUpstream(run, upstream) : known;
  const after = isTrusted
    ? before
    : acceptUpstream({
        ...run,
        upstream,
        regionNames: await readSubdivisionNames(openSnapshot, codes),
        regionOf: regionKeys(regions),
      });
  const files = {
    [ACCEPTED_FILE]: await archiveFile(deps.archive, encodeFile(after.accepted), mode),
    [HELD_FILE]: await archiveFile(deps.archive, encodeFile(after.held), mode),
  };
  const unusable = findUnusable(before.accepted.airports, rows, named.rejects);
  return {
    files,
    held: {
      ...summarizeHeld(before, after),
      ...(unusable.length > 0 && { unusable }),
      ...(read.isLost && { ledger_lost: true }),
    },
    measure: isTrusted ? null : measureFile(rows.coded, before.accepted, limits),
    listed: countListed(before.accepted.airports, upstream, limits.unlistedPercent),
    read: account,
    regionRejects: named.rejects,
  };
}

/** How many percent fewer or more airports than usual upstream's file may list. */
const FILE_CHANGE_MAX_PERCENT = 2;

/**
 * Compares a file's length with the previous file and with the accepted airports. Without the latter,
 * the next file would look truncated or padded after one that was a little too long or too short. The
 * first file may differ more, because the accepted airports are as old as the snapshot.
 */
function measureFile(
  listed: number,
  { airports, codedRows }: Accepted,
  { unlistedPercent }: HoldLimits,
): FileMeasure {
  const slackPercent = codedRows === null ? unlistedPercent : FILE_CHANGE_MAX_PERCENT;
  return { listed, before: codedRows, accepted: airports.length, slackPercent };
}

/** Opens upstream's archived files. Throws SourceError if upstream gave no such file. */
function fileOpener(
  archive: Pick<SourceArchive, "open">,
  sources: { readonly [file: string]: Sha256Hex },
): OpenFile {
  return async (name) => {
    const found = findFile(name, sources);
    if (found === undefined)
      throw new SourceError("missing_file", `upstream has no file for ${name}`);
    return decodeFile(found.name, await archive.open(found.name, found.file));
  };
}

/** The subdivisions of airports without a region in the snapshot: upstream's names of these count. */
function codesWithoutRegion(
  airports: readonly SourceAirport[],
  regions: readonly ReferenceRegion[],
): ReadonlySet<string> {
  const isWithoutRegion = subdivisionsWithout(regions);
  return new Set(airports.map(({ region }) => region).filter(isWithoutRegion));
}

/** Returns which region of the catalog has upstream's code. */
export function regionKeys(regions: readonly ReferenceRegion[]): RegionOf {
  const keys = new Map<string, string>();
  for (const { key, members } of regions)
    if (key.startsWith("iso3166-")) for (const member of members) keys.set(member, key);
  return (code) => {
    // Upstream's codes for airports in no subdivision end in "U-A"; a territory may be undivided.
    const isDummy = code.endsWith("-U-A");
    return keys.get(isDummy ? code.slice(0, 2) : code) ?? (isDummy ? "" : code);
  };
}
