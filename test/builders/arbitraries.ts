/** Random values for property tests. */
import fc from "fast-check";
import type { Catalog } from "../../src/catalog/model.ts";

/** Any Unicode text without lone surrogates. */
const anyText = fc.string({ unit: "binary", maxLength: 12 });

const anyId = fc.uint8Array({ minLength: 16, maxLength: 16 });
const anyDegrees = fc.double({ noDefaultInfinity: true, noNaN: true });

/** Catalogs of any texts and numbers, whose four lists are as long as `length` says. */
export function anyCatalog(length: fc.Arbitrary<number>): fc.Arbitrary<Catalog> {
  return fc.record({
    airports: listOf(length, {
      id: anyId,
      iata: anyText,
      icao: anyText,
      name: anyText,
      lat: anyDegrees,
      lon: anyDegrees,
      cityId: anyId,
    }),
    cities: listOf(length, {
      id: anyId,
      name: anyText,
      countryId: anyId,
      lat: anyDegrees,
      lon: anyDegrees,
    }),
    countries: listOf(length, {
      id: anyId,
      isoCode2: anyText,
      isoCode3: anyText,
      nameEng: anyText,
      nameNative: anyText,
      phonePrefix: anyText,
    }),
    regions: listOf(length, {
      id: anyId,
      key: anyText,
      slug: anyText,
      name: anyText,
      airportIataCodes: fc.array(anyText, { maxLength: 3 }),
    }),
  });
}

function listOf<T>(
  length: fc.Arbitrary<number>,
  fields: { [F in keyof T]: fc.Arbitrary<T[F]> },
): fc.Arbitrary<T[]> {
  return length.chain((n) => fc.array(fc.record<T>(fields), { minLength: n, maxLength: n }));
}
