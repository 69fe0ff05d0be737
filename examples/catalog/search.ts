/** Finds places as one types. Pure. */
import type { LocationsResponse } from "../../gen/locations/v1/locations_pb.ts";
import { idText } from "./apply-diff.ts";

/** An airport, or what has several of them: a city, country or region. */
export interface Place {
  readonly name: string;
  /** Where it is. */
  readonly within: string;
  /** IATA codes of its airports. */
  readonly airports: readonly string[];
}

interface Entry {
  readonly place: Place;
  /** Folded. They match as a whole only. */
  readonly codes: readonly string[];
  /** Folded, each after a space. */
  readonly names: readonly string[];
}

export type SearchIndex = readonly Entry[];

/** Folds all codes and names, once for each catalog. */
export function indexPlaces(catalog: LocationsResponse): SearchIndex {
  const countries = new Map(catalog.countries.map((country) => [idText(country.id), country]));
  const cities = new Map(catalog.cities.map((city) => [idText(city.id), city]));
  const ofCity = Map.groupBy(catalog.airports, ({ cityId }) => idText(cityId));
  const countryOf = (cityId: string) => countries.get(idText(cities.get(cityId)?.countryId));
  const ofCountry = Map.groupBy(catalog.airports, ({ cityId }) => countryOf(idText(cityId)));

  const airports = catalog.airports.map(({ iata, icao, name, cityId }) => {
    const city = cities.get(idText(cityId))?.name ?? "";
    const within = `${city}, ${countryOf(idText(cityId))?.nameEng}`;
    return entry({ name, within, airports: [iata] }, [iata, icao], [name, `${city} ${name}`]);
  });
  const cityEntries = [...cities].map(([id, { name }]) =>
    entry({ name, within: countryOf(id)?.nameEng ?? "", airports: codesOf(ofCity.get(id)) }),
  );
  const countryEntries = catalog.countries.map((country) => {
    const { nameEng, nameNative, isoCode2, isoCode3 } = country;
    const place = { name: nameEng, within: "", airports: codesOf(ofCountry.get(country)) };
    return entry(place, [isoCode2, isoCode3], [nameEng, nameNative]);
  });
  const regionEntries = catalog.regions.map(({ name, nameLocalized, airportIataCodes }) =>
    entry(
      { name: nameLocalized, within: "", airports: airportIataCodes },
      [],
      [name, nameLocalized],
    ),
  );
  // The airport itself stands for a city that has but one.
  const more = [...cityEntries, ...countryEntries, ...regionEntries];
  return [...airports, ...more.filter(({ place }) => place.airports.length > 1)];
}

/** Finds places by code or name: the best matches first, and of equals the one with more airports. */
export function findPlaces(index: SearchIndex, typed: string, limit = 10): Place[] {
  const text = folded(typed);
  if (text === "") return [];
  return index
    .flatMap(({ place, codes, names }) => {
      const rank = codes.includes(text) ? 0 : Math.min(...names.map((name) => rankOf(name, text)));
      return rank < NO_MATCH ? [{ place, rank }] : [];
    })
    .toSorted((a, b) => a.rank - b.rank || compare(a.place, b.place))
    .slice(0, limit)
    .map(({ place }) => place);
}

const NO_MATCH = 5;

function rankOf(name: string, text: string): number {
  if (name === ` ${text}`) return 1;
  if (name.startsWith(` ${text}`)) return 2;
  if (text.split(" ").every((word) => name.includes(` ${word}`))) return 3;
  // One or two letters are inside nearly every name.
  return text.length > 2 && name.includes(text) ? 4 : NO_MATCH;
}

function compare(a: Place, b: Place): number {
  return b.airports.length - a.airports.length || (a.name < b.name ? -1 : 1);
}

function entry(place: Place, codes: readonly string[] = [], names = [place.name]): Entry {
  return { place, codes: codes.map(folded), names: names.map((name) => ` ${folded(name)}`) };
}

function codesOf(airports: LocationsResponse["airports"] = []): string[] {
  return airports.map(({ iata }) => iata);
}

/** Letters that Unicode does not decompose. */
const PLAIN = new Map(
  Object.entries({ ß: "ss", æ: "ae", œ: "oe", ø: "o", đ: "d", ł: "l", ı: "i" }),
);

/** Lower case, without accents, with single spaces: "São-Paulo" is "sao paulo". */
function folded(text: string): string {
  return text
    .toLowerCase()
    .normalize("NFKD")
    .replaceAll(/[\p{M}'’]/gu, "")
    .replaceAll(/[^\p{L}\p{N}]+/gu, " ")
    .replaceAll(/[ßæœøđłı]/g, (letter) => PLAIN.get(letter) ?? letter)
    .trim();
}
