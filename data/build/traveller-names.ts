import { foldForSearch } from "../../client/src/search/fold.ts";

/** What the sources say of an airport's name. */
export interface AirportNames {
  /** OurAirports'. */
  readonly official: string;
  /** The name of its city, and how many people live there. */
  readonly city: string;
  readonly cityPeople: number;
  /** Its municipality, the city that it serves and that city's other names, its subdivision and country. */
  readonly places: readonly string[];
  /** Names that other sources and earlier days have. The first is the best. */
  readonly others: readonly string[];
}

/** From this many inhabitants on, a city is better known than the name of its airport. */
const METROPOLIS = 300_000;

const NAME_OF_AIRPORT = /^\p{Lu}[^,;/()\d"]*\b(?:airport|international|airfield)$/iu;

/**
 * The name under which travellers know an airport whose official name hides where it is: one that
 * shares no word with its city, its municipality, its subdivision or its country. It is
 *
 * 1. the name of another source that has the city and a word of the official name (Paris Charles de
 *    Gaulle Airport),
 * 2. of a metropolis, the city and the official name (Moscow Sheremetyevo International Airport),
 * 3. the name of another source that has the city (Bratislava Airport).
 *
 * Undefined where the official name says it, and where no source has a better one.
 */
export function travellerName(names: AirportNames): string | undefined {
  const { city, cityPeople, places, others } = names;
  const official = names.official.replace(/ \/ .*/u, "");
  const officialWords = wordsOf(official);
  const placeWords = new Set([city, ...places].flatMap((place) => [...wordsOf(place)]));
  if ([...officialWords].some((word) => placeWords.has(word))) return undefined;
  const named = others
    .map((name) => name.replaceAll(/\s+[-/]\s+|\s+/gu, " ").trim())
    .filter((name) => NAME_OF_AIRPORT.test(name) && contains(name, city));
  const both = named.find((name) => [...wordsOf(name)].some((word) => officialWords.has(word)));
  return both ?? (cityPeople >= METROPOLIS ? `${city} ${official}` : named[0]);
}

/** Words that many airports have in their names. */
const COMMON = new Set(
  "airport international regional municipal national domestic airfield aerodrome field air base new".split(
    " ",
  ),
);

/** The words of a name that tell it from others. */
function wordsOf(name: string): ReadonlySet<string> {
  const words = foldForSearch(name).split(" ");
  return new Set(words.filter((word) => word.length > 2 && !COMMON.has(word)));
}

function contains(name: string, city: string): boolean {
  return ` ${foldForSearch(name)} `.includes(` ${foldForSearch(city)} `);
}
