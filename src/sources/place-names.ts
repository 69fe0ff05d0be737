import { foldText, tidy } from "../catalog/fold.ts";

/** Minimum number of inhabitants of a city that an airport may be named after. */
export const NAMESAKE = 30_000;
export const NAMESAKE_MAX_KM = 25;
/** A smaller place may be only the village at the runway. */
export const VILLAGE = 35_000;

export function placeInAirportName(name: string): string {
  return tidy(
    name
      .replace(/\([^()]*\)/gu, " ")
      .replace(
        /\b(international|regional|municipal|domestic|airport|airfield|airstrip|aerodrome|air base|airbase|heliport|helipad|seaplane base|water aerodrome|station|mine|new|old)\b/giu,
        " ",
      ),
  );
}

/** OurAirports' additions to a municipality that describe where it is: an island, a district, a road. */
const ADDITIONS =
  /(-[\p{Lu}][\p{L}' ]+ Islands?| (District|Township|County|Municipality|Subdistrict|Regency|Governorate|Department))$/u;

/**
 * Removes the word for an island that upstream adds to a place, as in `Syros Island`. Keeps it if the
 * airport's name never has the rest without it, as in `Orchid Island Airport`.
 */
export function plainPlace(name: string, airportName: string): string {
  const rest = name.replace(/ (?:Islands?|Atoll)$/u, "");
  const stands = ` ${foldText(airportName).replaceAll("-", " ")} `;
  const bare = foldText(rest).replaceAll("-", " ");
  const [, ...followers] = stands.split(` ${bare} `);
  return followers.some((words) => !/^(?:islands?|is|atoll) /u.test(words)) ? rest : name;
}

/**
 * Lists the cities that an airport's municipality names, in the order of the text. OurAirports writes
 * the city that the airport serves, or two with a slash between them. The place of the runway follows
 * in brackets, and the area around the city after a comma.
 */
export function citiesOfMunicipality(municipality: string): string[] {
  const outside = municipality.replace(/[([][^()[\]]*[)\]]/gu, " ");
  const names = outside.split(/[/;]|\s-\s| and /u).map((part) => part.split(",")[0] ?? "");
  return distinctNames([...names, outside].map((name) => tidy(name).replace(ADDITIONS, "")));
}

/** Lists the places of the runway, which OurAirports writes in brackets after the city. */
export function placesInBrackets(municipality: string): string[] {
  const inside = [...municipality.matchAll(/[([]([^()[\]]*)[)\]]/gu)].map(
    (match) => match[1] ?? "",
  );
  return distinctNames(inside.flatMap((part) => part.split(/[/;,]/u)).map(tidy));
}

/** The key of a name's spellings: `Fort Saint John` and `Fort St. John`, `Quebec` and `Quebec City`. */
export function spellingKey(name: string): string {
  return foldText(name)
    .replace(/\bsaint\b/gu, "st")
    .replace(/-city$/u, "")
    .replaceAll("-", "");
}

/** Lists one to three successive words of an airport's name: any may be the city of that name. */
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
