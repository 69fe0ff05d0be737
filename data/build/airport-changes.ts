import { foldText } from "../../src/catalog/fold.ts";
import type { AirportRow } from "./airports.ts";
import { readCurated } from "./curated.ts";

const KINDS = ["opened", "recoded", "renamed", "moved", "unscheduled", "closed"] as const;

/** What has happened to an airport since the newest day of OurAirports that a package carries. */
type Kind = (typeof KINDS)[number];

type Column =
  | "iata"
  | "change"
  | "id"
  | "type"
  | "name"
  | "lat"
  | "lon"
  | "country"
  | "region"
  | "municipality"
  | "scheduled"
  | "icao"
  | "predecessor"
  | "predecessor_is"
  | "date"
  | "source";

/** A row of `curated/airports.csv`. Empty columns leave what OurAirports has. */
export type Change = Readonly<Record<Column | "reason", string>>;

/** What a row must have one of to move an airport. */
const MOVES = ["lat", "lon", "country", "region", "municipality"] as const;

/** Ids from here on are ours: of airports that OurAirports did not list on its newest day. */
const OWN_IDS_FROM = 1_000_000_000;

/** What becomes of an airport in whose place another opens. */
const PREDECESSOR_KINDS: readonly string[] = ["closed", "unscheduled"] satisfies Kind[];

const NOTHING = {
  type: "",
  name: "",
  lat: "",
  lon: "",
  country: "",
  region: "",
  municipality: "",
  scheduled: "",
  icao: "",
  predecessor: "",
  predecessor_is: "",
} as const;

/** Reads `curated/airports.csv`. */
export function readChanges(): readonly Change[] {
  return readCurated<Column>("airports");
}

/**
 * The changes, and for each airport that opened in place of another one more, by which that other
 * one is closed or loses its scheduled service.
 *
 * @param rows of the day before the changes: they have the predecessors' codes.
 * @throws Error that names each row whose predecessor is missing, unknown or not said to be closed
 * or unscheduled.
 */
export function withPredecessors(
  rows: readonly AirportRow[],
  changes: readonly Change[],
): readonly Change[] {
  const byCode = new Map(rows.map((row) => [row.iata, row]));
  const problems: string[] = [];
  const all = changes.flatMap((change) => {
    const { iata, predecessor: code, predecessor_is: kind } = change;
    const predecessor = byCode.get(code);
    const isNew = change.change === "opened" && change.scheduled === "yes";
    if (code === "-" || (code === "" && !isNew)) return [change];
    if (code === "")
      problems.push(`airports.csv: ${iata} opened: it needs its predecessor, or - if it has none`);
    else if (predecessor === undefined)
      problems.push(`airports.csv: ${iata}: OurAirports has no predecessor ${code}`);
    else if (!PREDECESSOR_KINDS.includes(kind))
      problems.push(`airports.csv: ${iata}: predecessor_is must be closed or unscheduled`);
    else return [changeOfPredecessor(predecessor, change), change];
    return [];
  });
  if (problems.length > 0) throw new Error(problems.join("\n"));
  return all;
}

function changeOfPredecessor({ id, iata }: AirportRow, successor: Change): Change {
  const { date, source, reason, predecessor_is: change } = successor;
  return { ...NOTHING, iata, change, id: String(id), date, source, reason };
}

/**
 * The rows of one day with the changes since.
 *
 * @throws Error that names each curated row that does not fit.
 */
export function applyChanges(
  rows: readonly AirportRow[],
  changes: readonly Change[],
): AirportRow[] {
  const byId = new Map(rows.map((row) => [row.id, row]));
  const regions = new Map(rows.map((row) => [row.region, row]));
  const problems: string[] = [];
  for (const change of changes) {
    const id = Number(change.id);
    const before = byId.get(id) ?? newRow(change, regions.get(change.region));
    const problem = problemOf(change, before, regions);
    if (problem === undefined && before !== undefined) byId.set(id, changed(before, change));
    else problems.push(`airports.csv: ${change.iata} ${change.change}: ${problem}`);
  }
  const after = [...byId.values()].filter(({ iata }) => iata !== "");
  for (const [iata, same] of Map.groupBy(after.filter(isNotClosed), (row) => row.iata))
    if (same.length > 1)
      problems.push(`airports.csv: ${iata} is the code of ${same.map(({ id }) => id).join(", ")}`);
  if (problems.length > 0) throw new Error(problems.join("\n"));
  return after;
}

function isNotClosed({ type }: AirportRow): boolean {
  return type !== "closed";
}

/** An airport that OurAirports did not list yet, in a region that it has. */
function newRow(change: Change, inRegion: AirportRow | undefined): AirportRow | undefined {
  if (Number(change.id) < OWN_IDS_FROM || inRegion === undefined) return undefined;
  return {
    id: Number(change.id),
    ident: "",
    type: change.type,
    name: change.name,
    lat: Number.NaN,
    lon: Number.NaN,
    elevationFt: null,
    continent: inRegion.continent,
    country: inRegion.country,
    region: inRegion.region,
    municipality: "",
    scheduledService: "no",
    icao: "",
    gps: "",
    iata: "",
    local: "",
  };
}

function changed(before: AirportRow, change: Change): AirportRow {
  if (change.change === "closed") return { ...before, type: "closed" };
  if (change.change === "unscheduled") return { ...before, scheduledService: "no" };
  return {
    ...before,
    iata: change.iata,
    type: change.type || before.type,
    name: change.name || before.name,
    lat: change.lat === "" ? before.lat : Number(change.lat),
    lon: change.lon === "" ? before.lon : Number(change.lon),
    country: change.country || before.country,
    region: change.region || before.region,
    municipality: change.municipality || before.municipality,
    scheduledService: change.scheduled || before.scheduledService,
    icao: change.icao || before.icao,
  };
}

/** What is wrong with a curated row, if anything is. */
function problemOf(
  change: Change,
  before: AirportRow | undefined,
  regions: ReadonlyMap<string, AirportRow>,
): string | undefined {
  const { iata, id, source, date, region, country, scheduled } = change;
  if (!KINDS.some((kind: Kind) => kind === change.change))
    return `change must be one of ${KINDS.join(", ")}`;
  if (!/^[A-Z]{3}$/u.test(iata)) return "iata must be three capital letters";
  if (source === "" || !/^\d{4}(-\d{2}(-\d{2})?)?$/u.test(date))
    return "it needs a source, and a date such as 2026-02-10, 2026-02 or 2026";
  if (before === undefined)
    return `OurAirports has no airport ${id}; ids of ours begin at 1000000000, with a region`;
  const isGone = change.change === "closed" && before.iata === "";
  const isNew = change.change === "opened" || change.change === "recoded";
  if (!isGone && !isNew && before.iata !== iata)
    return `airport ${id} has the code "${before.iata}"`;
  if (change.change === "renamed" && change.name === "") return "it needs the new name";
  if (change.change === "moved" && !MOVES.some((column) => change[column] !== ""))
    return `it needs one of ${MOVES.join(", ")}`;
  if (region !== "" && !regions.has(region)) return `OurAirports has no region ${region}`;
  if (country !== "" && !(region || before.region).startsWith(`${country}-`))
    return `region ${region || before.region} is not in ${country}`;
  if (scheduled !== "" && scheduled !== "yes" && scheduled !== "no")
    return "scheduled must be yes, no or empty";
  return problemOfResult(changed(before, change));
}

function problemOfResult({ type, name, lat, lon }: AirportRow): string | undefined {
  if (foldText(name) === "") return "it has no name";
  if (type === "") return "it has no type";
  if (!(Math.abs(lat) <= 90 && Math.abs(lon) <= 180)) return "it has no position";
  return undefined;
}
