import type { AirportPlace, CityPlace, CountryPlace, Place, RegionPlace } from "./catalog.ts";
import { distanceKm, type Position } from "./distance.ts";
import { foldForSearch } from "./search/fold.ts";
import type { ClosedAirport } from "./search/ranks.ts";
import type { Resort } from "./search/search-index.ts";
import { isTelling } from "./search/search-words.ts";

/** A place that was found, as a picker lists it. */
export interface Suggestion {
  readonly kind: Place["kind"];
  /** UUID in its usual text form. */
  readonly id: string;
  /** In the language of the answer, where that has one; of an airport as travellers say it. */
  readonly name: string;
  /** Tells apart places of one name: `Maine, United States`. Empty for a country. */
  readonly where: string;
  /** The parts of `name` that were typed, as beginnings and ends; empty if another name was. */
  readonly matched: readonly (readonly [start: number, end: number])[];
  /** ISO 3166-1 alpha-2; null for a region of several countries. */
  readonly countryCode: string | null;
  /** Of an airport or a city. */
  readonly position: Position | null;
  /** IATA codes: of an airport its own, of anything else those of its airports, the busiest first. */
  readonly airports: readonly string[];
  /** IANA time zone of an airport, or of a city's busiest one; null of anything else, or if it is not known. */
  readonly timeZone: string | null;
  /** Whether it is an airport that is listed under its city. */
  readonly isUnderCity: boolean;
  /** Present if it is a guess: it has most of the words, or resembles what was typed. */
  readonly isPartial?: true;
  /** The closed airport that was typed, where it leads to this one. */
  readonly replaces?: ClosedAirport;
  /** The place without an airport that was typed, and its distance along the great circle. */
  readonly near?: { readonly name: string; readonly distanceKm: number };
}

/** Names countries in the reader's language. */
export type CountryNames = (country: Pick<CountryPlace, "code" | "name">) => string;

/** Undefined if the platform names no countries in it. */
export function knownLanguage(locale: string): string | undefined {
  try {
    return Intl.DisplayNames.supportedLocalesOf(locale.replaceAll("_", "-"))[0];
  } catch {
    return undefined;
  }
}

/** Names countries in a language; as the contract does where the platform does not know it. */
export function countryNamesIn(language: string): CountryNames {
  const known = knownLanguage(language);
  if (known === undefined) return ({ name }) => name;
  const names = new Intl.DisplayNames([known], { type: "region", fallback: "none" });
  return ({ code, name }) => names.of(code) ?? name;
}

/** How a place that was found is written. */
interface Wording {
  readonly isUnderCity: boolean;
  readonly isPartial?: boolean;
  readonly countryName: CountryNames;
  /** The text that was searched. */
  readonly typed?: string;
  /** Places without an airport that may have been typed, by IATA code of their airports. */
  readonly resorts?: ReadonlyMap<string, readonly Resort[]>;
}

export function suggestionOf(
  place: Place,
  { isUnderCity, isPartial = false, countryName, typed = "", resorts }: Wording,
): Suggestion {
  const { kind, id } = place;
  const name = nameOf(place, countryName);
  const airports = place.kind === "airport" ? [place] : place.airports;
  const busiestFirst = airports.toSorted((a, b) => a.rank - b.rank);
  const hasOneTime = place.kind === "airport" || place.kind === "city";
  const replaces = place.kind === "airport" ? closedIn(typed, place) : undefined;
  const near =
    place.kind === "airport" ? nearIn(typed, place, resorts?.get(place.iata)) : undefined;
  const where = whereIs(place, countryName);
  return {
    kind,
    id,
    name,
    where,
    matched: matchedIn(name, typed),
    countryCode: countryOf(place)?.code ?? null,
    position: "lat" in place ? { lat: place.lat, lon: place.lon } : null,
    airports: busiestFirst.map(({ iata }) => iata),
    timeZone: (hasOneTime && busiestFirst[0]?.timeZone) || null,
    isUnderCity,
    ...(isPartial && { isPartial }),
    ...(replaces && { replaces }),
    ...(near && { near }),
  };
}

function nameOf(place: Place, countryName: CountryNames): string {
  if (place.kind === "country") return countryName(place);
  return place.kind === "city" ? place.nameLocal : place.name;
}

/** Finds the words of a name that begin as words of a text do, whatever their case and accents. */
export function matchedIn(name: string, typed: string): Suggestion["matched"] {
  const words = foldForSearch(typed)
    .split(" ")
    .filter((word) => word !== "");
  return [...name.matchAll(/[\p{L}\p{N}\p{M}'’]+/gu)].flatMap(({ 0: text, index }) => {
    const folded = foldForSearch(text);
    const longest = Math.max(
      0,
      ...words.filter((word) => folded.startsWith(word)).map(({ length }) => length),
    );
    if (longest === 0) return [];
    // A letter with its marks.
    const letters = text.match(/\P{M}\p{M}*|\p{M}+/gu) ?? [];
    const end = letters.findIndex(
      (_, at) => foldForSearch(letters.slice(0, at + 1).join("")).length >= longest,
    );
    return [[index, index + letters.slice(0, end + 1).join("").length] as const];
  });
}

/** Finds the resort of an airport that a text names, or begins to. */
function nearIn(
  typed: string,
  airport: AirportPlace,
  resorts: readonly Resort[] = [],
): Suggestion["near"] {
  const text = foldForSearch(typed);
  const isNamed = (name: string) =>
    ` ${text} `.includes(` ${name} `) || (isTelling(text) && name.startsWith(text));
  const resort = resorts.find(({ names }) => names.some(isNamed));
  return resort && { name: resort.name, distanceKm: distanceKm(resort, airport) };
}

/** Finds the closed airport that a text names by a word that its successor lacks. */
function closedIn(
  typed: string,
  { replaces, name, officialName, city, iata, icao }: AirportPlace,
): ClosedAirport | undefined {
  if (replaces.length === 0) return undefined;
  const wordsOf = (...texts: readonly string[]) => foldForSearch(texts.join(" ")).split(" ");
  const own = wordsOf(name, officialName, city.name, iata, icao);
  const isOf = (words: readonly string[]) => (word: string) =>
    words.some((other) => other.startsWith(word));
  const others = wordsOf(typed).filter((word) => word !== "" && !isOf(own)(word));
  return replaces.find((closed) =>
    others.some(isOf(wordsOf(closed.iata, closed.name, ...closed.names))),
  );
}

/** The only country of a place. */
function countryOf(place: Place): CountryPlace | undefined {
  switch (place.kind) {
    case "airport":
      return place.city.country;
    case "city":
      return place.country;
    case "country":
      return place;
    case "region": {
      const [country, other] = new Set(place.airports.map(({ city }) => city.country));
      return other === undefined ? country : undefined;
    }
    default:
      return place satisfies never;
  }
}

function whereIs(place: Place, countryName: CountryNames): string {
  switch (place.kind) {
    case "airport":
      return `${place.city.nameLocal}, ${countryName(place.city.country)}`;
    case "city": {
      const region = subdivisionOf(place);
      const country = countryName(place.country);
      return region ? `${region.name}, ${country}` : country;
    }
    case "country":
      return "";
    case "region": {
      const country = countryOf(place);
      return country ? countryName(country) : "";
    }
    default:
      return place satisfies never;
  }
}

/**
 * Finds the region within the country that has most of a city's service: a subdivision, whose slug
 * ends in the country's code, before a travel region. Leaves out a region with the city's own name, as
 * Vienna's, and one that only its airports put it into, as Moscow's.
 */
export function subdivisionOf({
  name,
  country,
  airports,
  isApart,
}: CityPlace): RegionPlace | undefined {
  if (isApart) return undefined;
  const service = new Map<RegionPlace, number>();
  for (const { regions, tier } of airports)
    for (const region of regions)
      if (region.airports.every(({ city }) => city.country === country))
        service.set(region, (service.get(region) ?? 0) + 4 - tier);
  const suffix = `-${country.code.toLowerCase()}`;
  const isSubdivision = ({ slug }: RegionPlace) => Number(slug.endsWith(suffix));
  const [most] = [...service].toSorted(
    ([a, ofA], [b, ofB]) =>
      isSubdivision(b) - isSubdivision(a) || ofB - ofA || a.airports.length - b.airports.length,
  );
  const isOfOwnName = most && foldForSearch(most[0].nameEnglish) === foldForSearch(name);
  return isOfOwnName ? undefined : most?.[0];
}
