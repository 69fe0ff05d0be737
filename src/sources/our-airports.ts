import { asEvidence } from "../catalog/evidence.ts";
import type { AirportSet } from "../catalog/manifest.ts";
import { compareText, IATA_CODE, isPosition } from "../catalog/integrity.ts";
import { readCsv, type CsvRow } from "./csv.ts";
import { SourceError } from "./source-error.ts";

/** An airport as OurAirports tells of it, normalized. */
export interface SourceAirport {
  /** Numeric OurAirports id. */
  readonly id: string;
  readonly type: AirportType;
  readonly name: string;
  readonly lat: number;
  readonly lon: number;
  /** ISO 3166-1 alpha-2 code. */
  readonly country: string;
  /** OurAirports' ISO 3166-2 code, or a dummy such as `FR-U-A`. */
  readonly region: string;
  /** Empty where none is given. */
  readonly municipality: string;
  readonly iata: string;
  readonly icao: string;
}

/** Types that are kept, the preferred one first when two rows claim the same IATA code. */
const AIRPORT_TYPES = [
  "large_airport",
  "medium_airport",
  "small_airport",
  "seaplane_base",
  "heliport",
] as const;
type AirportType = (typeof AIRPORT_TYPES)[number];

export type RejectReason =
  | "missing_required"
  | "bad_iata"
  | "bad_coordinates"
  | "unknown_country"
  | "type_excluded"
  | "duplicate_iata"
  | "duplicate_id"
  | "duplicate_region"
  | "column_count"
  | "bad_scheduled_service";

export interface Reject {
  readonly reason: RejectReason;
  /** Line of airports.csv. */
  readonly line: number;
  /** IATA code as written, cut to some 40 characters as is the id. */
  readonly iata: string;
  readonly id: string;
}

export type RepairReason = "name_white_space" | "name_note" | "icao_from_gps_code";

/** What became of each row. Rows without an IATA code are `filtered`, not rejected. */
export interface AirportsRead {
  /** In order of their IATA codes; codes and ids are distinct. */
  readonly airports: readonly SourceAirport[];
  readonly seen: number;
  readonly filtered: number;
  /** Good rows that are left out for want of scheduled service. */
  readonly unscheduled: number;
  readonly rejects: readonly Reject[];
  readonly repaired: Readonly<RepairCounts>;
}

/** Most rejected rows that are held in memory: several times as many as the file has airports. */
const REJECTS_MAX = 50_000;

const REQUIRED_COLUMNS = [
  "id",
  "type",
  "name",
  "latitude_deg",
  "longitude_deg",
  "iso_country",
  "iso_region",
  "iata_code",
];

/**
 * Reads OurAirports' airports.csv, of which only rows with an IATA code are held in memory. Airports
 * without scheduled service are left out last, so that those with it are the same in either set.
 *
 * @param knownCountries ISO 3166-1 alpha-2 codes that an airport may lie in.
 * @param airportSet which airports are read.
 * @throws SourceError when the file as a whole cannot be used.
 */
export async function readAirports(
  bytes: ReadableStream<Uint8Array>,
  knownCountries: ReadonlySet<string>,
  airportSet: AirportSet = "all",
): Promise<AirportsRead> {
  const needsService = airportSet === "scheduled";
  const columns = needsService ? [...REQUIRED_COLUMNS, "scheduled_service"] : REQUIRED_COLUMNS;
  const interned = new Map<string, string>();
  const candidates: { airport: SourceAirport; line: number }[] = [];
  const rejects: Reject[] = [];
  const repaired: RepairCounts = {};
  const unserved = new Set<string>();
  let seen = 0;
  let filtered = 0;
  for await (const row of readCsv("airports.csv", bytes, columns)) {
    seen++;
    const iata = row.get("iata_code").trim();
    if (row.complete && iata === "") {
      filtered++;
      continue;
    }
    const parsed = parseAirport(row, { knownCountries, needsService, interned }, repaired);
    if (typeof parsed === "string") {
      rejects.push(reject(parsed, { line: row.line, iata, id: row.get("id") }));
      if (rejects.length > REJECTS_MAX) throw tooManyRejects("airports.csv", row.line);
      continue;
    }
    candidates.push({ airport: parsed, line: row.line });
    if (row.get("scheduled_service") !== "yes") unserved.add(parsed.id);
  }
  const distinct = distinctAirports(candidates, rejects);
  const airports = needsService ? distinct.filter(({ id }) => !unserved.has(id)) : distinct;
  const unscheduled = distinct.length - airports.length;
  return { airports, seen, filtered, unscheduled, rejects, repaired };
}

interface ParseRules {
  readonly knownCountries: ReadonlySet<string>;
  readonly needsService: boolean;
  /** One string for all airports of a country or region. */
  readonly interned: Map<string, string>;
}

/** A reject, with its texts cut: they may be as long as a row. */
function reject(
  reason: RejectReason,
  { line, iata, id }: { line: number; iata: string; id: string },
): Reject {
  return { reason, line, iata: asEvidence(iata), id: asEvidence(id) };
}

function tooManyRejects(file: string, line: number): SourceError {
  return new SourceError(
    "malformed_csv",
    `${file} has over ${REJECTS_MAX} rows up to line ${line} that cannot be used; look whether it is the right file`,
  );
}

type RepairCounts = { [R in RepairReason]?: number };

function parseAirport(
  row: CsvRow,
  { knownCountries, needsService, interned }: ParseRules,
  repaired: RepairCounts,
): SourceAirport | RejectReason {
  if (!row.complete) return "column_count";
  const id = row.get("id");
  const type = AIRPORT_TYPES.find((known) => known === row.get("type"));
  const name = cleanName(row.get("name"));
  const iata = row.get("iata_code").trim();
  const lat = parseDegrees(row.get("latitude_deg"));
  const lon = parseDegrees(row.get("longitude_deg"));
  const country = row.get("iso_country");
  if (type === undefined) return "type_excluded";
  if (!/^[1-9][0-9]*$/.test(id) || name === "") return "missing_required";
  if (!IATA_CODE.test(iata)) return "bad_iata";
  if (!isPosition({ lat, lon })) return "bad_coordinates";
  if (!knownCountries.has(country)) return "unknown_country";
  const service = row.get("scheduled_service");
  if (needsService && !["yes", "no"].includes(service)) return "bad_scheduled_service";
  const icao = findIcao(row);
  countRepairs(row, name, icao, repaired);
  const region = intern(row.get("iso_region"), interned);
  const municipality = cleanText(row.get("municipality"));
  const code = intern(country, interned);
  return { id, type, name, lat, lon, country: code, region, municipality, iata, icao };
}

function intern(text: string, interned: Map<string, string>): string {
  const known = interned.get(text);
  if (known === undefined) interned.set(text, text);
  return known ?? text;
}

/** `icao_code`, else `gps_code`; never `ident`, which often only looks like an ICAO code. */
function findIcao(row: CsvRow): string {
  const codes = [row.get("icao_code"), row.get("gps_code")];
  return codes.find((code) => /^[A-Z]{4}$/.test(code)) ?? "";
}

function countRepairs(row: CsvRow, name: string, icao: string, repaired: RepairCounts): void {
  const count = (reason: RepairReason) => {
    repaired[reason] = (repaired[reason] ?? 0) + 1;
  };
  const spaced = cleanText(row.get("name"));
  if (spaced !== row.get("name")) count("name_white_space");
  if (spaced !== name) count("name_note");
  if (icao !== "" && icao !== row.get("icao_code")) count("icao_from_gps_code");
}

/** Degrees rounded to six decimals; NaN unless the text is a plain decimal number. */
function parseDegrees(text: string): number {
  if (!/^[+-]?\d{1,3}(\.\d+)?$/.test(text.trim())) return Number.NaN;
  return roundDegrees(Number(text));
}

/** Degrees with six decimals (about 0.1 m) and no negative zero. */
export function roundDegrees(degrees: number): number {
  return Math.round(degrees * 1e6) / 1e6 + 0;
}

/** NFC, trimmed, inner white space and control characters collapsed to one space. */
function cleanText(text: string): string {
  return text
    .normalize("NFC")
    .replace(/[\s\p{Cc}]+/gu, " ")
    .trim();
}

/** What OurAirports' editors note in a name, in any bracket and case, closed by any or by none. */
const STATE_NOTE =
  /[([{]\s*(?:duplicate|unusable|closed|abandoned|disused|inactive|under construction|u\.?\s?c\.?)(?![\p{L}\d])[^()[\]{}]*(?:[)\]}]|$)/giu;

/** The mark of a row that its editors want to be rid of. */
const DELETION_MARK = /(?<!\p{L})XXX(?!\p{L})/gu;

/** The name once more, behind a dash or slash, in letters that are not Latin. */
const OTHER_SCRIPT = /\s[-–/]\s[^\p{Script=Latin}]*(?!\p{Script=Latin})\p{L}[^\p{Script=Latin}]*$/u;

/** The name without OurAirports' notes: of its state, such as "(unusable)", or in another script. */
function cleanName(name: string): string {
  const plain = cleanText(name).replace(STATE_NOTE, " ").replace(DELETION_MARK, " ");
  return cleanText(plain.replace(OTHER_SCRIPT, ""));
}

/** One airport for each IATA code and for each id, whatever the order of the rows. */
function distinctAirports(
  candidates: readonly { airport: SourceAirport; line: number }[],
  rejects: Reject[],
): SourceAirport[] {
  const ordered = candidates.toSorted(
    (a, b) =>
      compareText(a.airport.iata, b.airport.iata) ||
      AIRPORT_TYPES.indexOf(a.airport.type) - AIRPORT_TYPES.indexOf(b.airport.type) ||
      Number(a.airport.id) - Number(b.airport.id) ||
      compareText(JSON.stringify(a.airport), JSON.stringify(b.airport)),
  );
  const kept: SourceAirport[] = [];
  const ids = new Set<string>();
  for (const { airport, line } of ordered) {
    const { iata, id } = airport;
    if (kept.at(-1)?.iata === iata) rejects.push(reject("duplicate_iata", { line, iata, id }));
    else if (ids.has(id)) rejects.push(reject("duplicate_id", { line, iata, id }));
    else kept.push(airport);
    ids.add(id);
  }
  return kept;
}

/**
 * Most rows of regions.csv, as a share, that may have more or fewer values than its header. One may
 * in any case: a file made by hand ends with an empty line.
 */
const BROKEN_REGIONS_MAX = 0.02;

/** What regions.csv says of the regions that are wanted. */
export interface RegionsRead {
  /** English names by region code. */
  readonly names: ReadonlyMap<string, string>;
  /** Rows that name a region again; `id` is its code. */
  readonly rejects: readonly Reject[];
}

/**
 * Reads OurAirports' regions.csv. Rows of another length than the header are skipped, as long as
 * they are few. Of rows with one code the name stays that comes first in the alphabet, whatever
 * their order.
 *
 * @param wanted codes whose names are needed.
 * @throws SourceError when the file as a whole cannot be used; `malformed_csv` when more than 2 %
 * of its rows are of another length.
 */
export async function readRegionNames(
  bytes: ReadableStream<Uint8Array>,
  wanted: ReadonlySet<string>,
): Promise<RegionsRead> {
  const names = new Map<string, string>();
  const rejects: Reject[] = [];
  let seen = 0;
  let broken = 0;
  for await (const row of readCsv("regions.csv", bytes, ["code", "name"])) {
    seen++;
    if (!row.complete) {
      broken++;
      continue;
    }
    const code = row.get("code");
    const name = cleanText(row.get("name"));
    if (!wanted.has(code) || name === "") continue;
    const known = names.get(code);
    if (known !== undefined)
      rejects.push(reject("duplicate_region", { line: row.line, iata: "", id: code }));
    if (rejects.length > REJECTS_MAX) throw tooManyRejects("regions.csv", row.line);
    if (known === undefined || compareText(name, known) < 0) names.set(code, name);
  }
  if (broken > Math.max(1, seen * BROKEN_REGIONS_MAX))
    throw new SourceError(
      "malformed_csv",
      `${broken} of ${seen} rows of regions.csv have more or fewer values than its header; look whether it is the right file`,
    );
  return { names, rejects };
}
