import { foldText, tidy } from "../../src/catalog/fold.ts";
import { scriptOf } from "./countries.ts";
import { readCurated } from "./curated.ts";
import type { GeoPlace } from "./gazetteer.ts";

/** How the sources write the name of a city; undefined where they do not name it. */
export interface Spellings {
  readonly ourAirports: string | undefined;
  readonly openTravelData: string | undefined;
}

/** What a gazetteer adds to a name: the kind of the place, in English, Japanese or Korean. */
const KIND = /(?<=\p{L}{3})(?: \(poblacion\)|-si|-shi| Shi)$/u;

/** The marks that a transliteration needs and English leaves out, by the script of the country. */
const TRANSLITERATED: ReadonlyMap<string, RegExp> = new Map([
  ["Latn", /[‘ʻ]/gu],
  ["Cyrl", /['‘`ʻ\u0304]/gu],
  ["Grek", /[\u0301]/gu],
]);
const OTHER_SCRIPTS = /[‘`ʻʿ\u0304\u0323\u0327\u0331\u032e]/gu;

/** Countries that write in Latin letters with marks that English leaves out. */
const PLAIN_IN_ENGLISH: ReadonlySet<string> = new Set(["VN"]);

/** Countries of Romanian, whose letters GeoNames writes with a cedilla. */
const COMMA_BELOW: ReadonlySet<string> = new Set(["RO", "MD"]);
const COMMA_LETTERS: ReadonlyMap<string, string> = new Map([
  ["Ş", "Ș"],
  ["ş", "ș"],
  ["Ţ", "Ț"],
  ["ţ", "ț"],
]);

/**
 * The English names of cities: GeoNames' of our package, unless OurAirports, which is written in
 * English, and OpenTravelData, whose names are GeoNames' of a later day, agree on another.
 */
export class CityNames {
  readonly #agreed = new Map<number, string>();

  /** Notes how the sources write the city of one of its airports. */
  add(place: GeoPlace, { ourAirports, openTravelData }: Spellings): void {
    if (ourAirports === undefined || openTravelData === undefined) return;
    if (foldText(ourAirports) === foldText(openTravelData))
      this.#agreed.set(place.id, openTravelData);
  }

  /** The name of a city that has airports. */
  name(place: GeoPlace): string {
    const own = ownName(place);
    const agreed = this.#agreed.get(place.id);
    const name = agreed === undefined || foldText(agreed) === foldText(own) ? own : agreed;
    return plain(name, place.country);
  }
}

/** GeoNames' name of a place as English has it. */
export function plainName(place: GeoPlace): string {
  return plain(ownName(place), place.country);
}

function ownName({ name }: GeoPlace): string {
  return tidy(name.replace(KIND, ""));
}

/** A name of a place in a country of Romanian in that language's letters: Brașov, not Braşov. */
export function withCommaBelow(name: string, country: string): string {
  if (!COMMA_BELOW.has(country)) return name;
  return name.replaceAll(/[ŞşŢţ]/gu, (letter) => COMMA_LETTERS.get(letter) ?? letter);
}

/** A name without the marks that only its transliteration needs. */
function plain(name: string, country: string): string {
  const straight = name.replaceAll(/[’ʼ]/gu, "'");
  if (PLAIN_IN_ENGLISH.has(country))
    return straight
      .replaceAll(/[ÐĐ]/gu, "D")
      .replaceAll("đ", "d")
      .normalize("NFD")
      .replaceAll(/\p{M}/gu, "");
  if (COMMA_BELOW.has(country)) return withCommaBelow(straight, country);
  const marks = TRANSLITERATED.get(scriptOf(country)) ?? OTHER_SCRIPTS;
  return straight.normalize("NFD").replaceAll(marks, "").normalize("NFC");
}

/**
 * The names that a person chose, by city key.
 *
 * @throws Error that names the row that is there twice.
 */
export function readCityNames(): ReadonlyMap<string, string> {
  const names = new Map<string, string>();
  for (const { key, name } of readCurated<"key" | "name">("city-names")) {
    if (names.has(key)) throw new Error(`city-names.csv: ${key} (${name}) is there twice`);
    names.set(key, name);
  }
  return names;
}
