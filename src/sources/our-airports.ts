import { roundDegrees } from "../catalog/round-degrees.ts";
import { asEvidence } from "../catalog/evidence.ts";
import { isNear } from "../catalog/positions.ts";
import { compareText, IATA_CODE, isPosition } from "../catalog/integrity.ts";
import { readCsv, type CsvRow } from "./csv.ts";
import { SourceError } from "./source-error.ts";

/** A normalized airport of OurAirports. */
export interface SourceAirport {
  /** Numeric OurAirports id. */
  readonly id: string;
  readonly type: AirportType;
  readonly name: string;
  readonly lat: number;
  readonly lon: number;
  /** ISO 3166-1 alpha-2 code. */
  readonly country: string;
  /** ISO 3166-2 code of OurAirports, or a placeholder such as `FR-U-A`. */
  readonly region: string;
  /** Empty if the row has none. */
  readonly municipality: string;
  readonly iata: string;
  readonly icao: string;
  /** Whether it has scheduled service. */
  readonly scheduled: boolean;
}

/** Accepted types. The first one wins if two rows claim the same IATA code. */
const AIRPORT_TYPES = [
  "large_airport",
  "medium_airport",
  "small_airport",
  "seaplane_base",
  "heliport",
] as const;
type AirportType = (typeof AIRPORT_TYPES)[number];

type RejectReason =
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
  /** IATA code as written; shortened to 40 characters, like the id. */
  readonly iata: string;
  readonly id: string;
}

type RepairReason = "name_white_space" | "name_note" | "icao_from_gps_code";

/** An airport that the catalog has. */
interface KnownAirport {
  /** Number of its row. */
  readonly row: string;
  readonly iata: string;
  readonly lat: number;
  readonly lon: number;
}

/** Result of each row. Rows without an IATA code are `filtered`, and closed ones too. */
export interface AirportsRead {
  /** Sorted by IATA code. Codes and ids are unique. */
  readonly airports: readonly SourceAirport[];
  /** Why known airports are not among them, by row number; unknown rows are left out. */
  readonly fates: ReadonlyMap<string, "closed" | "without_code">;
  /** Ids of airports whose names say that they are not in use. */
  readonly unopened: ReadonlySet<string>;
  readonly seen: number;
  readonly filtered: number;
  readonly rejects: readonly Reject[];
  readonly repaired: Readonly<RepairCounts>;
}

/** Most rejected rows in memory: several times the number of airports. */
const REJECTS_MAX = 50_000;

/** UTF-8 that was read as Latin-1 (`ZÃ¼rich`), or letters that were lost. */
const WRONGLY_DECODED = /[ÃÂÄÅ][\u0080-\u00bf]|\ufffd/;
/** Most such names: a wiki may have some, a file in another encoding has hundreds. */
const GARBLED_MAX = 20;

/** Without `icao_code`, which the files of earlier years lack. */
const REQUIRED_COLUMNS = [
  "id",
  "type",
  "name",
  "latitude_deg",
  "longitude_deg",
  "iso_country",
  "iso_region",
  "municipality",
  "scheduled_service",
  "iata_code",
  "gps_code",
];

/**
 * Reads OurAirports' airports.csv. Only rows with an IATA code stay in memory.
 *
 * @param knownCountries accepted ISO 3166-1 alpha-2 codes.
 * @param known airports of the catalog: of two rows with one code, the airport's own is kept.
 * @throws SourceError if the whole file is unusable.
 */
export async function readAirports(
  bytes: ReadableStream<Uint8Array>,
  knownCountries: ReadonlySet<string>,
  known: readonly KnownAirport[] = [],
): Promise<AirportsRead> {
  const interned = new Map<string, string>();
  const candidates: { airport: SourceAirport; line: number }[] = [];
  const rejects: Reject[] = [];
  const repaired: RepairCounts = {};
  const rows = new Set(known.map(({ row }) => row));
  const fates = new Map<string, "closed" | "without_code">();
  const unopened = new Set<string>();
  let seen = 0;
  let filtered = 0;
  let garbled = 0;
  for await (const row of readCsv("airports.csv", bytes, REQUIRED_COLUMNS)) {
    seen++;
    const iata = row.get("iata_code").trim();
    const isClosed = row.get("type") === "closed";
    if (row.complete && (iata === "" || isClosed)) {
      filtered++;
      if (rows.has(row.get("id"))) fates.set(row.get("id"), isClosed ? "closed" : "without_code");
      continue;
    }
    const parsed = parseAirport(row, { knownCountries, interned }, repaired);
    if (typeof parsed === "string") {
      rejects.push(reject(parsed, { line: row.line, iata, id: row.get("id") }));
      if (rejects.length > REJECTS_MAX) throw tooManyRejects("airports.csv", row.line);
      continue;
    }
    if (WRONGLY_DECODED.test(`${parsed.name} ${parsed.municipality}`) && ++garbled > GARBLED_MAX)
      throw new SourceError(
        "not_utf8",
        `airports.csv has over ${GARBLED_MAX} names that were decoded wrongly, such as “${asEvidence(parsed.name)}” in line ${row.line}; check its encoding`,
      );
    candidates.push({ airport: parsed, line: row.line });
    if (hasStateNote(row.get("name"))) unopened.add(parsed.id);
  }
  const airports = distinctAirports(candidates, known, rejects);
  return { airports, fates, unopened, seen, filtered, rejects, repaired };
}

interface ParseRules {
  readonly knownCountries: ReadonlySet<string>;
  /** Shares one string between all airports of a country or region. */
  readonly interned: Map<string, string>;
}

/** Builds a reject with shortened texts, which may be as long as a row. */
function reject(
  reason: RejectReason,
  { line, iata, id }: { line: number; iata: string; id: string },
): Reject {
  return { reason, line, iata: asEvidence(iata), id: asEvidence(id) };
}

function tooManyRejects(file: string, line: number): SourceError {
  return new SourceError(
    "malformed_csv",
    `${file} has over ${REJECTS_MAX} unusable rows up to line ${line}; check that it is the right file`,
  );
}

type RepairCounts = { [R in RepairReason]?: number };

function parseAirport(
  row: CsvRow,
  { knownCountries, interned }: ParseRules,
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
  if (!["yes", "no", ""].includes(service)) return "bad_scheduled_service";
  const icao = findIcao(row);
  countRepairs(row, name, icao, repaired);
  const region = intern(row.get("iso_region"), interned);
  const municipality = cleanText(row.get("municipality"));
  const code = intern(country, interned);
  const place = { lat, lon, country: code, region, municipality };
  return { id, type, name, ...place, iata, icao, scheduled: service === "yes" };
}

function intern(text: string, interned: Map<string, string>): string {
  const known = interned.get(text);
  if (known === undefined) interned.set(text, text);
  return known ?? text;
}

/** Reads `icao_code` or `gps_code`. `ident` often only looks like an ICAO code. */
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

/** Parses degrees. Returns NaN unless the text is a plain decimal number. */
function parseDegrees(text: string): number {
  if (!/^[+-]?\d{1,3}(\.\d+)?$/.test(text.trim())) return Number.NaN;
  return roundDegrees(Number(text));
}

/** Normalizes to NFC, trims, and collapses white space and control characters to one space. */
function cleanText(text: string): string {
  return text
    .normalize("NFC")
    .replace(/[\s\p{Cc}]+/gu, " ")
    .trim();
}

/** Notes of OurAirports' editors in a name, in any bracket and case, closed or not. */
const STATE_NOTE =
  /[([{]\s*(?:duplicate|unusable|closed|abandoned|disused|inactive|under construction|u\.?\s?c\.?)(?![\p{L}\d])[^()[\]{}]*(?:[)\]}]|$)/giu;

/** Mark of a row that the editors want to delete. */
const DELETION_MARK = /(?<!\p{L})XXX(?!\p{L})/gu;

/** Repetition of the name in a non-Latin script, after a dash or slash. */
const OTHER_SCRIPT = /\s[-–/]\s[^\p{Script=Latin}]*(?!\p{Script=Latin})\p{L}[^\p{Script=Latin}]*$/u;

/** Removes notes such as "(unusable)" and repetitions in another script from a name. */
function cleanName(name: string): string {
  return cleanText(withoutStateNotes(cleanText(name)).replace(OTHER_SCRIPT, ""));
}

function withoutStateNotes(name: string): string {
  return name.replace(STATE_NOTE, " ").replace(DELETION_MARK, " ");
}

/** Whether a name says that the airport is not in use. */
function hasStateNote(name: string): boolean {
  return withoutStateNotes(name) !== name;
}

/** Keeps one airport per IATA code and per id, independently of the order of the rows. */
function distinctAirports(
  candidates: readonly { airport: SourceAirport; line: number }[],
  known: readonly KnownAirport[],
  rejects: Reject[],
): SourceAirport[] {
  const holders = new Map(known.map((airport) => [airport.iata, airport]));
  /** Ranks the row of the known airport first, then those near it. */
  const rank = (airport: SourceAirport) => {
    const holder = holders.get(airport.iata);
    if (holder === undefined || holder.row === airport.id) return 0;
    return isNear(holder, airport) ? 1 : 2;
  };
  const ordered = candidates.toSorted(
    ({ airport: a }, { airport: b }) =>
      compareText(a.iata, b.iata) ||
      rank(a) - rank(b) ||
      AIRPORT_TYPES.indexOf(a.type) - AIRPORT_TYPES.indexOf(b.type) ||
      Number(a.id) - Number(b.id) ||
      compareText(JSON.stringify(a), JSON.stringify(b)),
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
 * Largest share of rows of regions.csv with more or fewer values than the header. One such row is
 * always allowed: a handmade file ends with an empty line.
 */
const BROKEN_REGIONS_MAX = 0.02;

/** English names of regions from regions.csv. */
interface RegionsRead {
  /** Names by region code. */
  readonly names: ReadonlyMap<string, string>;
  /** Rows that repeat a region; `id` is its code. */
  readonly rejects: readonly Reject[];
}

/**
 * Reads OurAirports' regions.csv. Skips rows whose length differs from the header's, if there are
 * few. Of rows with the same code it keeps the alphabetically first name, in whatever order they
 * come.
 *
 * @param wanted codes of the needed regions.
 * @throws SourceError if the whole file is unusable; `malformed_csv` if more than 2 % of the rows
 * have the wrong length.
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
      `${broken} of ${seen} rows of regions.csv have more or fewer values than its header; check that it is the right file`,
    );
  return { names, rejects };
}
