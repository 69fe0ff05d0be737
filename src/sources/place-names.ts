import { foldText, tidy } from "../catalog/fold.ts";

/** From this many inhabitants on, a place may be a city that an airport is named after. */
export const NAMESAKE = 30_000;
export const NAMESAKE_MAX_KM = 25;
/** A place below this size may be but the village at the runway. */
export const VILLAGE = 35_000;

/** What is left of an airport's name when the words for airports are taken out. */
export function placeInAirportName(name: string): string {
  return tidy(
    name
      .replace(/\(.*?\)/gu, " ")
      .replace(
        /\b(international|regional|municipal|domestic|airport|airfield|airstrip|aerodrome|air base|airbase|heliport|helipad|seaplane base|water aerodrome|station|mine|new|old)\b/giu,
        " ",
      ),
  );
}

/** What OurAirports adds to a municipality to say where in the world it is: an island, a district, a road. */
const ADDITIONS =
  /(-[\p{Lu}][\p{L}' ]+ Islands?| (District|Township|County|Municipality|Subdistrict|Regency|Governorate|Department))$/u;

/**
 * The name of a place without the word for an island that upstream adds: `Syros Island`. It stays
 * where the airport's name does not have the rest by itself: `Orchid Island Airport`.
 */
export function plainPlace(name: string, airportName: string): string {
  const rest = name.replace(/ (?:Islands?|Atoll)$/u, "");
  const stands = ` ${foldText(airportName).replaceAll("-", " ")} `;
  const bare = foldText(rest).replaceAll("-", " ");
  return new RegExp(` ${bare} (?!islands? |is |atoll )`, "u").test(stands) ? rest : name;
}

/**
 * The cities that an airport's municipality names, in the order of the text. OurAirports writes the
 * city that the airport serves, two by a slash, and in brackets the place of the runway; behind a
 * comma stands what it is a part of.
 */
export function citiesOfMunicipality(municipality: string): string[] {
  const outside = municipality.replace(/[([].*?[)\]]/gu, " ");
  const names = outside.split(/[/;]|\s-\s| and /u).map((part) => part.split(",")[0] ?? "");
  return distinctNames([...names, outside].map((name) => tidy(name).replace(ADDITIONS, "")));
}

/** The place of the runway, which OurAirports writes in brackets behind the city that it serves. */
export function placesInBrackets(municipality: string): string[] {
  const inside = [...municipality.matchAll(/[([](.*?)[)\]]/gu)].map((match) => match[1] ?? "");
  return distinctNames(inside.flatMap((part) => part.split(/[/;,]/u)).map(tidy));
}

/**
 * Key under which spellings of one name meet, from `foldText`: `Fort Saint John` and `Fort St. John`,
 * `Pangkal Pinang` and `Pangkalpinang`, `Quebec` and `Quebec City`.
 */
export function spellingKey(name: string): string {
  return foldText(name)
    .replace(/\bsaint\b/gu, "st")
    .replace(/-city$/u, "")
    .replaceAll("-", "");
}

/** Runs of up to three words of an airport's name, any of which may be a city that it is named after. */
export function namesWithin(name: string): string[] {
  const words = name.split(/[\s/–()-]+/u).filter((word) => word !== "");
  return distinctNames(
    words.flatMap((_, start) =>
      [1, 2, 3].map((length) => words.slice(start, start + length).join(" ")),
    ),
  );
}

function distinctNames(names: readonly string[]): string[] {
  return [...new Set(names)].filter((name) => foldText(name) !== "");
}
