import { foldText } from "../../src/catalog/fold.ts";
import { codeOfRegion, type PlainRegion } from "./catalog-region.ts";
import { repeated } from "./repeated.ts";
import { listMembers, type PlacedAirport } from "./region-members.ts";

/** One row of `travel-regions.csv`; members are separated by spaces. */
interface TravelRegionRow {
  readonly key: string;
  readonly name: string;
  readonly members: string;
}

/**
 * The regions that travellers know and no standard has: countries, subdivisions and airports that
 * `travel-regions.csv` puts together. A subdivision stands for all of its members.
 * Throws with the row when it names what no source has, or the same thing twice.
 */
export function travelRegions(
  rows: readonly TravelRegionRow[],
  airports: readonly Pick<PlacedAirport, "iata" | "country">[],
  subdivisions: readonly Pick<PlainRegion, "key" | "members">[],
): PlainRegion[] {
  const known = new Map<string, readonly string[]>();
  for (const { iata, country } of airports) known.set(iata, [iata]).set(country, [country]);
  for (const { key, members } of subdivisions)
    for (const code of [codeOfRegion(key), ...members])
      if (code.includes("-")) known.set(code, members);
  const [keyTwice] = repeated(rows.map(({ key }) => key));
  if (keyTwice !== undefined) throw new Error(`travel-regions.csv: ${keyTwice} is there twice`);
  return rows.map((row): PlainRegion => {
    const { key, name } = row;
    const refuse = (why: string) => new Error(`travel-regions.csv: ${key}: ${why}`);
    const slug = foldText(name);
    if (key !== `travel:${slug}`) throw refuse(`the key of ${name} is travel:${slug}`);
    const listed = listMembers(row.members);
    if (listed.length === 0) throw refuse("it has no members");
    const [twice] = repeated(listed);
    if (twice !== undefined) throw refuse(`${twice} is there twice`);
    const members = listed.flatMap((member) => {
      const its = known.get(member);
      if (its === undefined) throw refuse(`no source has ${member}`);
      return its;
    });
    return { key, name, members, cldr: [] };
  });
}
