import { fromBinary } from "@bufbuild/protobuf";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { applyDiff } from "../../../client/src/apply-diff.ts";
import { uuidText } from "../../../client/src/uuid.ts";
import { LocationsResponseSchema } from "../../../gen/locations/v1/locations_pb.ts";
import { concatenate } from "../../../src/catalog/bytes.ts";
import {
  type CatalogDiff,
  type CodeChanges,
  countChanges,
  diffCatalogs,
} from "../../../src/catalog/diff.ts";
import { encodeLocalePart } from "../../../src/catalog/encode.ts";
import { airportId, cityId, countryId, idText, regionId } from "../../../src/catalog/ids.ts";
import type { Catalog, RegionNames } from "../../../src/catalog/model.ts";
import { aCatalog, aCity, aCountry, aMilan, anAirport, aRegion } from "../../builders/catalog.ts";
import { encodeSharedPart } from "../../builders/encode-shared-part.ts";

function messageOf(catalog: Catalog, names: RegionNames = new Map()): Uint8Array {
  return concatenate([
    encodeSharedPart(catalog).proto,
    encodeLocalePart(catalog.regions, names).proto,
  ]);
}

function diffOf(before: Catalog, after: Catalog, maxListed = Infinity): CatalogDiff {
  return diffCatalogs({ before: messageOf(before), after: () => [messageOf(after)], maxListed });
}

const NONE = { counts: { added: 0, changed: 0, removed: 0 }, added: [], changed: [], removed: [] };
const EMPTY_DIFF = { airports: NONE, cities: NONE, countries: NONE, regions: NONE };
const EMPTY_CATALOG: Catalog = { airports: [], cities: [], countries: [], regions: [] };

describe("diffCatalogs", () => {
  it("finds nothing between two copies of one version", () => {
    expect(diffOf(aCatalog(), aCatalog())).toEqual(EMPTY_DIFF);
  });

  it("shows an added airport completely, with ids as UUIDs", () => {
    const [milan, zurich] = [anAirport({ iata: "LIN", cityId: aMilan().id }), anAirport()];
    const before = aCatalog({ airports: [zurich] });
    const diff = diffOf(before, aCatalog({ airports: [milan, zurich] }));
    expect(diff).toEqual({
      ...EMPTY_DIFF,
      airports: {
        ...NONE,
        counts: { added: 1, changed: 0, removed: 0 },
        added: [
          {
            id: idText(milan.id),
            iata: "LIN",
            icao: "LSZH",
            name: "LIN Airport",
            lat: 47.4581,
            lon: 8.5481,
            city_id: idText(aMilan().id),
          },
        ],
      },
    });
  });

  it("shows every removed entity completely", () => {
    const diff = diffOf(aCatalog(), EMPTY_CATALOG);
    expect(countChanges(diff)).toEqual({
      airports: { added: 0, changed: 0, removed: 2 },
      cities: { added: 0, changed: 0, removed: 2 },
      countries: { added: 0, changed: 0, removed: 2 },
      regions: { added: 0, changed: 0, removed: 2 },
    });
    expect(diff.cities.removed).toContainEqual({
      id: idText(aMilan().id),
      name: "Milan",
      country_id: idText(countryId("IT")),
      lat: 45.4643,
      lon: 9.1895,
    });
    expect(diff.countries.removed).toContainEqual({
      id: idText(countryId("IT")),
      iso_code2: "IT",
      iso_code3: "ITA",
      name_eng: "Italy",
      name_native: "Italia",
      phone_prefix: "39",
    });
    expect(diff.regions.removed[0]).toEqual({
      id: idText(regionId("m49:150")),
      slug: "europe",
      name: "Europe",
      name_localized: "Europe",
      slug_localized: "europe",
      airport_iata_codes: ["LIN", "ZRH"],
    });
  });

  it("compares two locales but for their names, of a region that is in both", () => {
    const names = new Map([["m49:150", { name: "Europa", slug: "europa" }]]);
    const [region = aRegion()] = aCatalog().regions;
    const diff = diffCatalogs({
      before: messageOf(aCatalog()),
      after: () => [messageOf(aCatalog({ regions: [{ ...region, name: "Old World" }] }), names)],
      isOfTwoLocales: true,
    });
    expect(diff.regions).toMatchObject({
      counts: { added: 0, changed: 1 },
      changed: [{ before: { name: region.name }, after: { name: "Old World" } }],
    });
    expect(diff.regions.changed[0]?.after).not.toHaveProperty("name_localized");
  });

  it("treats positive and negative zero as equal", () => {
    const at = (lat: number) => aCatalog({ airports: [anAirport({ lat })] });
    expect(diffOf(at(0), at(-0))).toEqual(EMPTY_DIFF);
  });

  it("lists no more than the limit, and counts everything", () => {
    const before = ["AAA", "BBB", "CCC", "DDD"].map((iata) => anAirport({ iata }));
    const after = [
      ...["CCC", "DDD"].map((iata) => anAirport({ iata, icao: "" })),
      ...["EEE", "FFF", "GGG"].map((iata) => anAirport({ iata })),
    ];
    const { airports } = diffOf(aCatalog({ airports: before }), aCatalog({ airports: after }), 1);
    expect(airports.counts).toEqual({ added: 3, changed: 2, removed: 2 });
    expect(airports.added.map(({ iata }) => iata)).toEqual(["EEE"]);
    expect(airports.changed.map(({ label }) => label)).toEqual(["CCC"]);
    expect(airports.removed.map(({ iata }) => iata)).toEqual(["AAA"]);
  });

  it("reads a message whose parts come in any order, as Protocol Buffers allow", () => {
    const parts = [
      encodeSharedPart(aCatalog()).proto,
      encodeLocalePart(aCatalog().regions, new Map()).proto,
    ];
    const [before, after] = [concatenate(parts), concatenate(parts.toReversed())];
    expect(diffCatalogs({ before, after: () => [after] })).toEqual(EMPTY_DIFF);
  });

  it("refuses an entity without an id", () => {
    const airportNamedA = Uint8Array.of(0x2a, 3, 0x22, 1, 0x41);
    expect(() => diffCatalogs({ before: airportNamedA, after: () => [airportNamedA] })).toThrow(
      "an entity without an id",
    );
  });

  it("turns any version into any other when the example applies it", () => {
    const applied = (before: Catalog, diff: CatalogDiff) => {
      const catalog = fromBinary(LocationsResponseSchema, messageOf(before));
      const parsed = JSON.parse(JSON.stringify({ ...diff, locale: "en" }));
      const { airports, cities, countries, regions } = applyDiff(catalog, parsed);
      // Codes and slugs of these versions are not unique, so only their order by id is certain.
      return [airports, cities, countries, regions].map((list) =>
        list
          .map((each) => [uuidText(each.id), each] as const)
          .toSorted(([a], [b]) => (a < b ? -1 : 1)),
      );
    };
    fc.assert(
      fc.property(anyVersion, anyVersion, (before, after) => {
        expect(applied(before, diffOf(before, after))).toEqual(applied(after, EMPTY_DIFF));
      }),
    );
  });

  it("names only the fields of a change that differ, each on both sides", () => {
    fc.assert(
      fc.property(anyVersion, anyVersion, (before, after) => {
        const lists: readonly CatalogDiff[keyof CatalogDiff][] = Object.values(
          diffOf(before, after),
        );
        for (const change of lists.flatMap<Changed>(({ changed }) => changed)) {
          expect(Object.keys(change.before)).toEqual(Object.keys(change.after));
          const was: readonly unknown[] = Object.values(change.before);
          const is: readonly unknown[] = Object.values(change.after);
          expect(was.filter((value, index) => value === is[index])).toEqual([]);
          const codes = change.airport_iata_codes ?? { added: [], removed: [] };
          expect(was.length + codes.added.length + codes.removed.length).toBeGreaterThan(0);
        }
      }),
    );
  });
});

/** Versions that share ids and values, so that each kind of difference is met. */
const anyVersion: fc.Arbitrary<Catalog> = fc.record({
  airports: someOf({
    iata: fc.constantFrom("LIN", "ZRH"),
    icao: fc.constantFrom("", "LSZH"),
    lat: fc.constantFrom(1.5, 2),
    cityId: fc.constantFrom(aCity().id, aMilan().id),
  }).map((found) => found.map(({ n, ...changes }) => anAirport({ ...changes, id: airportId(n) }))),
  cities: someOf({ name: fc.constantFrom("Milan", "Zürich"), lon: fc.constantFrom(1.5, 2) }).map(
    (found) => found.map(({ n, ...changes }) => aCity({ ...changes, id: cityId(`geonames:${n}`) })),
  ),
  countries: someOf({ nameEng: fc.constantFrom("Italy", "Switzerland") }).map((found) =>
    found.map(({ n, ...changes }) => aCountry({ ...changes, id: countryId(n) })),
  ),
  regions: someOf({
    name: fc.constantFrom("Europe", "Zürich"),
    airportIataCodes: fc.subarray(["GVA", "LIN", "ZRH"]),
  }).map((found) =>
    found.map(({ n, ...changes }) => aRegion({ ...changes, id: regionId(`m49:${n}`) })),
  ),
});

/** Up to six of eight entities, in ascending order of `n`. */
function someOf<T>(fields: { [F in keyof T]: fc.Arbitrary<T[F]> }) {
  const entity = fc.record({ n: fc.nat({ max: 7 }).map(String), fields: fc.record<T>(fields) });
  return fc
    .uniqueArray(entity, { maxLength: 6, selector: ({ n }) => n })
    .map((found) => found.toSorted((a, b) => Number(a.n) - Number(b.n)))
    .map((found) => found.map(({ n, fields: values }) => ({ ...values, n })));
}

interface Changed {
  readonly before: object;
  readonly after: object;
  readonly airport_iata_codes?: CodeChanges;
}
