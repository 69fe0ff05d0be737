/** Converts entities to JSON with the contract's field names and ids as UUID text. */
import type { Airport, City, Country, Region, Uuid } from "../../gen/locations/v1/locations_pb.ts";
import type { AirportFields, CityFields, CountryFields, RegionFields } from "./diff-schema.ts";
import { idText } from "./ids.ts";

export function airportFields({ id, iata, icao, name, lat, lon, cityId }: Airport): AirportFields {
  return { id: uuidText(id), iata, icao, name, lat, lon, city_id: uuidText(cityId) };
}

export function cityFields({ id, name, countryId, lat, lon }: City): CityFields {
  return { id: uuidText(id), name, country_id: uuidText(countryId), lat, lon };
}

export function countryFields(country: Country): CountryFields {
  return {
    id: uuidText(country.id),
    iso_code2: country.isoCode2,
    iso_code3: country.isoCode3,
    name_eng: country.nameEng,
    name_native: country.nameNative,
    phone_prefix: country.phonePrefix,
  };
}

export function regionFields(region: Region): RegionFields {
  return {
    id: uuidText(region.id),
    slug: region.slug,
    name: region.name,
    name_localized: region.nameLocalized,
    slug_localized: region.slugLocalized,
    airport_iata_codes: region.airportIataCodes,
  };
}

function uuidText(id: Uuid | undefined): string {
  if (id === undefined) throw new Error("a reference without an id");
  return idText(id.value);
}
