import { asEvidence } from "../catalog/evidence.ts";
import { tidy } from "../catalog/fold.ts";
import { compareText, IATA_CODE, isPosition } from "../catalog/integrity.ts";
import { isNear, roundDegrees } from "../catalog/positions.ts";
import {
  countReasons,
  reject,
  REJECTS_MAX,
  tooManyRejects,
  type UpstreamReader,
} from "./upstream-reader.ts";
import {
  AIRPORT_TYPES,
  type AirportsRead,
  type DelistedReason,
  type KnownAirport,
  type Reject,
  type SourceAirport,
  type SubdivisionsRead,
} from "../catalog/source-airport.ts";
import { hasStateNote, isServable, withoutCapitals, withoutNotes } from "./clean-names.ts";
import { type CsvRow, readCsv } from "./csv.ts";
import { SourceError } from "./source-error.ts";
import { TABLES } from "./source-file.ts";

/** Placeholders for a missing IATA code. */
const NO_CODE = "XXX";

type RejectReason =
  | "missing_required"
  | "bad_iata"
  | "bad_text"
  | "bad_coordinates"
  | "unknown_country"
  | "type_excluded"
  | "column_count"
  | "bad_scheduled_service";

/** UTF-8 that was read as Latin-1 (`ZÃ¼rich`), or letters that were lost. */
const WRONGLY_DECODED = /[ÃÂÄÅ][\u0080-\u00bf]|\ufffd/;
/** Maximum number of such names: a wiki may have some, a file in another encoding has hundreds. */
const GARBLED_MAX = 20;

/** Longest usable value, in characters. The longest name of the live file has 108. */
const VALUE_MAX_CHARACTERS = 500;

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

/** Reads files in OurAirports' format: airports.csv and regions.csv. */
export const ourAirports: UpstreamReader = {
  files: TABLES,
  readAirports: async (open, countries, known) =>
    readAirports(await open("airports.csv"), countries, known),
  readSubdivisions: async (open, wanted) => readSubdivisions(await open("regions.csv"), wanted),
};

/**
 * Reads OurAirports' airports.csv. Only rows with an IATA code stay in memory. Those without one are
 * `filtered`, and closed ones too.
 *
 * @param knownCountries accepted ISO 3166-1 alpha-2 codes.
 * @param known airports of the catalog: of two rows with one code, that airport's row is kept.
 * @throws SourceError if the whole file is unusable.
 */
export async function readAirports(
  bytes: ReadableStream<Uint8Array>,
  knownCountries: ReadonlySet<string>,
  known: readonly KnownAirport[] = [],
): Promise<AirportsRead> {
  const candidates: { airport: SourceAirport; line: number }[] = [];
  const rejects: Reject[] = [];
  const rows = new Set(known.map(({ row }) => row));
  const delistedRows = new Map<string, DelistedReason>();
  const unopened = new Set<string>();
  let seen = 0;
  let coded = 0;
  let filtered = 0;
  let garbled = 0;
  for await (const row of readCsv("airports.csv", bytes, REQUIRED_COLUMNS)) {
    seen++;
    const iata = row.get("iata_code").trim();
    if (iata !== "") coded++;
    const isClosed = row.get("type") === "closed";
    if (row.complete && (iata === "" || isClosed)) {
      filtered++;
      if (rows.has(row.get("id")))
        delistedRows.set(row.get("id"), isClosed ? "closed" : "without_code");
      continue;
    }
    const parsed = parseAirport(row, knownCountries);
    if (typeof parsed === "string") {
      rejects.push(reject(parsed, { line: row.line, iata, id: row.get("id") }));
      if (rejects.length > REJECTS_MAX)
        throw tooManyRejects("airports.csv", row.line, countReasons(rejects));
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
  for (const { id } of rejects) if (rows.has(id)) delistedRows.set(id, "unusable");
  return { airports, delistedRows, unopened, seen, coded, filtered, rejects };
}

function parseAirport(
  row: CsvRow,
  knownCountries: ReadonlySet<string>,
): SourceAirport | RejectReason {
  if (!row.complete) return "column_count";
  if (hasOverlong(row, [...REQUIRED_COLUMNS, "icao_code"])) return "bad_text";
  const id = row.get("id");
  const type = AIRPORT_TYPES.find((known) => known === row.get("type"));
  const name = withoutCapitals(withoutNotes(tidy(row.get("name"))));
  const iata = row.get("iata_code").trim().toUpperCase();
  const lat = parseDegrees(row.get("latitude_deg"));
  const lon = parseDegrees(row.get("longitude_deg"));
  const country = row.get("iso_country");
  if (type === undefined) return "type_excluded";
  if (!/^[1-9][0-9]{0,14}$/.test(id) || name === "") return "missing_required";
  if (!IATA_CODE.test(iata) || iata === NO_CODE) return "bad_iata";
  if (!isPosition({ lat, lon })) return "bad_coordinates";
  if (!knownCountries.has(country)) return "unknown_country";
  const service = row.get("scheduled_service");
  if (!["yes", "no", ""].includes(service)) return "bad_scheduled_service";
  const municipality = withoutCapitals(tidy(row.get("municipality")));
  const region = row.get("iso_region");
  if (![name, municipality, region].every(isServable)) return "bad_text";
  const place = { lat, lon, country, region, municipality };
  return { id, type, name, ...place, iata, icao: findIcao(row), scheduled: service === "yes" };
}

function hasOverlong(row: CsvRow, columns: readonly string[]): boolean {
  return columns.some((column) => row.get(column).length > VALUE_MAX_CHARACTERS);
}

/** Reads `icao_code` or `gps_code`. `ident` often only looks like an ICAO code. */
function findIcao(row: CsvRow): string {
  const codes = [row.get("icao_code"), row.get("gps_code")];
  return codes.find((code) => /^[A-Z]{4}$/.test(code)) ?? "";
}

/** Parses degrees. Returns NaN unless the text is a plain decimal number. */
function parseDegrees(text: string): number {
  if (!/^[+-]?\d{1,3}(\.\d+)?$/.test(text.trim())) return Number.NaN;
  return roundDegrees(Number(text));
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

/** Largest share of rows with a wrong number of values. One is always allowed: an empty line at the end. */
const BROKEN_REGIONS_MAX = 0.02;

/**
 * Reads OurAirports' regions.csv. Skips rows whose length differs from the header's, if there are few.
 * Of rows with the same code, it keeps the alphabetically first name. It rejects the others, and names
 * that cannot be served.
 *
 * @param wanted codes of the needed regions.
 * @throws SourceError if the whole file is unusable; `malformed_csv` if more than 2 % of the rows have
 * the wrong length.
 */
export async function readSubdivisions(
  bytes: ReadableStream<Uint8Array>,
  wanted: ReadonlySet<string>,
): Promise<SubdivisionsRead> {
  const names = new Map<string, string>();
  const rejects: Reject[] = [];
  let seen = 0;
  let broken = 0;
  for await (const row of readCsv("regions.csv", bytes, ["code", "name"])) {
    seen++;
    if (!row.complete) {
      if (++broken > REJECTS_MAX)
        throw tooManyRejects("regions.csv", row.line, { column_count: broken });
      continue;
    }
    const code = row.get("code");
    if (!wanted.has(code) || row.get("name").trim() === "") continue;
    const name = hasOverlong(row, ["name"]) ? "" : withoutCapitals(tidy(row.get("name")));
    const known = names.get(code);
    const isRefused = name === "" || !isServable(name);
    if (isRefused || known !== undefined) {
      const reason = isRefused ? "bad_text" : "duplicate_region";
      rejects.push(reject(reason, { line: row.line, iata: "", id: code }));
    }
    if (rejects.length > REJECTS_MAX)
      throw tooManyRejects("regions.csv", row.line, countReasons(rejects));
    if (isRefused) continue;
    if (known === undefined || compareText(name, known) < 0) names.set(code, name);
  }
  if (broken > Math.max(1, seen * BROKEN_REGIONS_MAX))
    throw new SourceError(
      "malformed_csv",
      `${broken} of ${seen} rows of regions.csv have more or fewer values than its header; check that it is the right file`,
    );
  return { names, rejects };
}
