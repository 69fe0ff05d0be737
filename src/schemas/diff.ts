import * as z from "zod";
import type { DeepReadonly } from "./fields.ts";
import { versionSchema } from "./version.ts";

const uuid = z.guid();
const degrees = z.number();

const airport = z.strictObject({
  id: uuid,
  iata: z.string(),
  icao: z.string(),
  name: z.string(),
  lat: degrees,
  lon: degrees,
  city_id: uuid,
});

const city = z.strictObject({
  id: uuid,
  name: z.string(),
  country_id: uuid,
  lat: degrees,
  lon: degrees,
});

const country = z.strictObject({
  id: uuid,
  iso_code2: z.string(),
  iso_code3: z.string(),
  name_eng: z.string(),
  name_native: z.string(),
  phone_prefix: z.string(),
});

const regionNames = z.strictObject({
  id: uuid,
  slug: z.string(),
  name: z.string(),
  name_localized: z.string(),
  slug_localized: z.string(),
});

const codes = z.array(z.string());
const region = regionNames.extend({ airport_iata_codes: codes });

export type AirportFields = DeepReadonly<z.output<typeof airport>>;
export type CityFields = DeepReadonly<z.output<typeof city>>;
export type CountryFields = DeepReadonly<z.output<typeof country>>;
export type RegionFields = DeepReadonly<z.output<typeof region>>;

/** The changes of one list: whole entities, and the fields of an entity that differ. */
function listDiff<Entity extends z.ZodObject, Fields extends z.ZodObject>(
  entity: Entity,
  partial: Fields,
) {
  const label = z.string().meta({ description: "Its name in the later version, for people." });
  return z.strictObject({
    counts: z
      .strictObject({ added: z.int(), changed: z.int(), removed: z.int() })
      .meta({ description: "All entities that differ. Only the changes of a run may list fewer." }),
    added: z.array(entity),
    changed: z.array(
      z.strictObject({
        id: uuid,
        label,
        before: partial,
        after: partial,
        airport_iata_codes: z.strictObject({ added: codes, removed: codes }).exactOptional(),
      }),
    ),
    removed: z.array(entity),
  });
}

const version = versionSchema.pick({ generation: true, published_at: true, catalog_sha256: true });

const locale = z.string().meta({ description: "The locale of the compared names." });

const lists = {
  airports: listDiff(airport, airport.partial()),
  cities: listDiff(city, city.partial()),
  countries: listDiff(country, country.partial()),
  regions: listDiff(region, regionNames.partial()),
};

export const diffSchema = z
  .strictObject({
    from: version,
    to: version,
    locale,
    ...lists,
  })
  .meta({ id: "CatalogDiff", description: "What has changed in each list." });

/** The first changes that a run makes to the published version. */
export const changesSchema = z.strictObject({ locale, ...lists }).meta({
  id: "RunChanges",
  description:
    "At most ten entities of each kind, with texts cut to 80 characters and the airport codes of a region to 20. Null until the guards have judged the run, and if there was no published version to compare with.",
});
