import anyAscii from "any-ascii";
import { type CatalogRegion, codeOfRegion, ownCountry } from "./catalog-region.ts";
import { readCityNames } from "./cities-of-regions.ts";
import { readTerritoryNames, shortTerritoryName } from "./locale-names.ts";
import { shareStem } from "./region-names.ts";
import type { RegionRow } from "./regions.ts";
import { makeSounds } from "./sound.ts";
import { readVettedSubdivisions } from "./subdivisions.ts";
import { capitalize } from "./text.ts";
import type { Verdicts } from "./verdicts.ts";
import type { Evidence } from "./witnesses.ts";

/** Reads what the names of regions are judged by. */
export async function readEvidence(
  regions: readonly CatalogRegion[],
  rows: readonly RegionRow[],
  verdicts: Verdicts,
): Promise<Evidence> {
  const cldr = new Map(regions.map((region) => [region.key, region.cldr]));
  const english = englishNames(regions, rows);
  const { sharesSound } = makeSounds(anyAscii);
  return {
    verdict: verdicts.of,
    isVetted: ({ locale, key, name }) => {
      const territories = readTerritoryNames(locale);
      const vetted = readVettedSubdivisions(locale);
      return (cldr.get(key) ?? []).some(
        (code) =>
          vetted.has(code) || capitalize(shortTerritoryName(territories, code), locale) === name,
      );
    },
    regionsOfCity: await readCityNames(english),
    soundsOwn: ({ key, name }) => (english.get(key) ?? []).some((own) => sharesSound(name, own)),
  };
}

/** The English names of regions, by key: our own, and upstream's if it is not nearer to another region's. */
function englishNames(
  regions: readonly CatalogRegion[],
  rows: readonly RegionRow[],
): ReadonlyMap<string, readonly string[]> {
  const upstream = new Map(rows.map(({ code, name }) => [code, name]));
  const byCountry = Map.groupBy(regions, ({ key }) => ownCountry(key));
  return new Map(
    regions.map(({ key, bareName }) => {
      const other = upstream.get(codeOfRegion(key)) ?? "";
      const isOthers =
        !shareStem(other, bareName) &&
        byCountry
          .get(ownCountry(key))
          ?.some((mate) => mate.key !== key && shareStem(other, mate.bareName));
      return [key, other === "" || isOthers ? [bareName] : [bareName, other]];
    }),
  );
}
