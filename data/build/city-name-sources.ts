import { inBothScripts } from "./chinese.ts";
import { exemplarCityFinder } from "./exemplar-cities.ts";

type Row = Readonly<Record<string, string>>;

/** What is known of a city beside its names. */
export interface NamedCity {
  readonly country: string;
  /** In any language. */
  readonly geoNames: readonly string[];
}

const citiesOf = exemplarCityFinder();

/** The columns of `city-names.csv.gz` that hold names. */
export function localesOf({ geonames: _, english: __, sources: ___, ...locales }: Row): string[] {
  return Object.keys(locales);
}

/**
 * Tells which of the build's packages has each name of a city, a letter for each locale: `c` CLDR, for
 * the city of a time zone; `g` GeoNames, in any language; `b` both; `r` a reader alone; `-` no name.
 */
export function sourcesOf(row: Row, { country, geoNames }: NamedCity): string {
  const known = new Set(
    geoNames.map((name) => name.normalize("NFC")).flatMap((name) => inBothScripts(name)),
  );
  return localesOf(row)
    .map((locale) => {
      const name = row[locale] ?? "";
      if (name === "") return "-";
      const inCldr = citiesOf(locale)(country, row["english"] ?? "") === name;
      if (known.has(name)) return inCldr ? "b" : "g";
      return inCldr ? "c" : "r";
    })
    .join("");
}
