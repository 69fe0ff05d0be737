import { foldText } from "../../src/catalog/fold.ts";
import type { Assignment } from "./city.ts";
import { compareCodeUnits } from "./text.ts";

/** One known municipality of a region and the city it means. */
export interface KnownMunicipality {
  readonly region: string;
  readonly municipality: string;
  readonly cityKey: string;
}

/** The municipalities whose airports all have one city: by them a new upstream airport finds its own. */
export function knownMunicipalities(assignments: readonly Assignment[]): KnownMunicipality[] {
  const known = new Map<string, KnownMunicipality | null>();
  for (const { airport, city } of assignments) {
    const municipality = foldText(airport.municipality);
    if (municipality === "") continue;
    const pair = `${airport.region} ${municipality}`;
    const before = known.get(pair);
    if (before === undefined)
      known.set(pair, { region: airport.region, municipality, cityKey: city.key });
    else if (before?.cityKey !== city.key) known.set(pair, null);
  }
  return [...known.values()]
    .filter((row) => row !== null)
    .toSorted(
      (a, b) =>
        compareCodeUnits(a.region, b.region) || compareCodeUnits(a.municipality, b.municipality),
    );
}
