import { type CatalogRegion, countryOfRegion } from "./catalog-region.ts";
import { repeated } from "./repeated.ts";

const IATA = /^[A-Z]{3}$/u;
const COUNTRY = /^[A-Z]{2}$/u;

/** An airport with what places it in regions: its country and upstream's code of its subdivision. */
export interface PlacedAirport {
  readonly iata: string;
  readonly country: string;
  readonly region: string;
}

/** The members that a table of `data/curated/` lists, separated by spaces. */
export function listMembers(text: string): string[] {
  return text.split(" ").filter((member) => member !== "");
}

/**
 * The subdivisions of airports that upstream has in none, in a dissolved or in a wrong one, and of
 * codes that upstream has given to a subdivision since its key was published: upstream code by IATA
 * code or newer code. Throws with the row when an airport is unknown or a member listed twice.
 *
 * @param rows of `region-members.csv`.
 */
export function listedMembers(
  rows: readonly { readonly code: string; readonly members: string }[],
  airports: readonly Pick<PlacedAirport, "iata" | "country">[],
): ReadonlyMap<string, string> {
  const countries = new Map(airports.map(({ iata, country }) => [iata, country]));
  const listed = rows.flatMap(({ code, members }) =>
    listMembers(members).map((member): [string, string] => [member, code]),
  );
  for (const [member, code] of listed) {
    const country = IATA.test(member) ? countries.get(member) : member.split("-")[0];
    if (country !== code.split("-")[0])
      throw new Error(`region-members.csv: ${code}: nothing in its country is ${member}`);
  }
  const [twice] = repeated(listed.map(([member]) => member));
  if (twice !== undefined) throw new Error(`region-members.csv: ${twice} is there twice`);
  return new Map(listed);
}

/**
 * Finds the airports of a region by its members, as the Worker does: an airport that a subdivision
 * lists by its IATA code is in no other one by upstream's code.
 */
export function airportFinder<Airport extends PlacedAirport>(
  regions: readonly Pick<CatalogRegion, "key" | "members">[],
  airports: readonly Airport[],
): (members: readonly string[]) => ReadonlySet<Airport> {
  const listed = new Set(
    regions.filter(({ key }) => countryOfRegion(key) !== "").flatMap(({ members }) => members),
  );
  const byIata = Map.groupBy(airports, ({ iata }) => iata);
  const byCountry = Map.groupBy(airports, ({ country }) => country);
  const byCode = Map.groupBy(
    airports.filter(({ iata }) => !listed.has(iata)),
    ({ region }) => region,
  );
  return (members) =>
    new Set(
      members.flatMap((member) => {
        if (IATA.test(member)) return byIata.get(member) ?? [];
        return (COUNTRY.test(member) ? byCountry : byCode).get(member) ?? [];
      }),
    );
}
