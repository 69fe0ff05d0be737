import manifest from "../../data/snapshot/manifest.json" with { type: "json" };
import type { LocationsResponse, Region, Uuid } from "../../gen/locations/v1/locations_pb.ts";
import { readTable } from "../../web/build/snapshot-table.ts";

/**
 * Every rule of the contract that a decoded response breaks, as seen from outside: counts, ids,
 * references, order, values, and the region names that the snapshot has in a locale.
 */
export function brokenRules(response: LocationsResponse, locale: string): string[] {
  return [
    ...countRules(response),
    ...idRules(response),
    ...referenceRules(response),
    ...orderRules(response),
    ...valueRules(response),
    ...nameRules(response.regions, locale),
  ];
}

const LISTS = ["airports", "cities", "countries", "regions"] as const;

function countRules(response: LocationsResponse): string[] {
  return LISTS.filter((list) => response[list].length !== manifest.counts[list]).map(
    (list) => `${response[list].length} ${list}, not ${manifest.counts[list]}`,
  );
}

function idRules(response: LocationsResponse): string[] {
  return LISTS.flatMap((list) => {
    const ids = response[list].map(({ id }) => id);
    const short = ids.filter((id) => id?.value.length !== 16);
    const distinct = new Set(ids.map(hex));
    return [
      ...short.map((id) => `an id of ${list} is not 16 bytes: ${hex(id)}`),
      ...(distinct.size === ids.length ? [] : [`ids of ${list} are not unique`]),
    ];
  });
}

function referenceRules({ airports, cities, countries, regions }: LocationsResponse): string[] {
  const cityIds = new Set(cities.map(({ id }) => hex(id)));
  const countryIds = new Set(countries.map(({ id }) => hex(id)));
  const codes = new Set(airports.map(({ iata }) => iata));
  return [
    ...airports
      .filter(({ cityId }) => !cityIds.has(hex(cityId)))
      .map(({ iata }) => `city_id of ${iata} does not resolve`),
    ...cities
      .filter(({ countryId }) => !countryIds.has(hex(countryId)))
      .map(({ name }) => `country_id of ${name} does not resolve`),
    ...regions.flatMap(({ slug, airportIataCodes }) =>
      airportIataCodes
        .filter((code) => !codes.has(code))
        .map((code) => `${code} in ${slug} does not resolve`),
    ),
  ];
}

function orderRules({ airports, cities, countries, regions }: LocationsResponse): string[] {
  const ordered: { readonly [list: string]: readonly string[] } = {
    airports: airports.map(({ iata }) => iata),
    cities: cities.map(({ id }) => hex(id)),
    countries: countries.map(({ id }) => hex(id)),
    regions: regions.map(({ slug }) => slug),
    ...Object.fromEntries(regions.map(({ slug, airportIataCodes }) => [slug, airportIataCodes])),
  };
  return Object.entries(ordered)
    .filter(([, keys]) => keys.some((key, i) => i > 0 && key <= (keys[i - 1] ?? "")))
    .map(([list]) => `${list} are not ascending and unique`);
}

function valueRules({ airports, cities, countries, regions }: LocationsResponse): string[] {
  const wrong = [
    ...airports.filter(({ iata, icao }) => !/^[A-Z]{3}(?:[A-Z]{4})?$/.test(iata + icao)),
    ...[...airports, ...cities].filter(({ name, lat, lon }) => name === "" || !isPlace(lat, lon)),
    ...countries.filter(
      ({ isoCode2, isoCode3, phonePrefix }) =>
        !/^[A-Z]{2} [A-Z]{3} \d*$/.test(`${isoCode2} ${isoCode3} ${phonePrefix}`),
    ),
    ...countries.filter(({ nameEng, nameNative }) => nameEng === "" || nameNative === ""),
    ...regions.filter(({ slug }) => !/^[a-z0-9]+(?:-[a-z0-9]+)*$/.test(slug)),
    ...regions.filter(({ airportIataCodes }) => airportIataCodes.length === 0),
  ];
  return wrong.map((entity) => `wrong value in ${JSON.stringify(entity)}`);
}

function isPlace(lat: number, lon: number): boolean {
  return Math.abs(lat) <= 90 && Math.abs(lon) <= 180 && (lat !== 0 || lon !== 0);
}

function nameRules(regions: readonly Region[], locale: string): string[] {
  const expected = regionNames(locale);
  const localizedSlugs = new Set(regions.map(({ slugLocalized }) => slugLocalized));
  return [
    ...regions
      .map(({ slug, name, nameLocalized, slugLocalized }) => ({
        is: `${slug}: ${name}, ${nameLocalized}, ${slugLocalized}`,
        shouldBe: expected.get(slug),
      }))
      .filter(({ is, shouldBe }) => is !== shouldBe)
      .map(({ is, shouldBe }) => `region ${is} should be ${shouldBe}`),
    ...(localizedSlugs.size === regions.length ? [] : ["localized slugs are not unique"]),
  ];
}

const memo = new Map<string, ReadonlyMap<string, string>>();

/** The snapshot's names of the regions in a locale, by slug. */
function regionNames(locale: string): ReadonlyMap<string, string> {
  const known = memo.get(locale);
  if (known !== undefined) return known;
  const localized = new Map(
    readTable(`snapshot/names/${locale}.json.gz`).map((row) => [row["key"], row]),
  );
  const names = new Map(
    readTable("snapshot/catalog-regions.csv.gz").map(({ key, slug = "", name = "" }) => {
      const { name: localizedName, slug: localizedSlug } = localized.get(key) ?? {};
      return [slug, `${slug}: ${name}, ${localizedName || name}, ${localizedSlug || slug}`];
    }),
  );
  memo.set(locale, names);
  return names;
}

function hex(id: Uuid | undefined): string {
  return Buffer.from(id?.value ?? []).toString("hex");
}
