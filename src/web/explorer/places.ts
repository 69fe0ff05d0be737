import type { CatalogIndex, Place } from "./catalog-index.ts";
import type { Selection } from "./permalink.ts";

/** Finds the place of a link; undefined if the catalog lacks it. */
export function findPlace(catalog: CatalogIndex, selection: Selection): Place | undefined {
  switch (selection.kind) {
    case "airport":
      return catalog.airportByIata.get(selection.iata);
    case "city":
      return catalog.cityById.get(selection.id);
    case "country":
      return catalog.countryByCode.get(selection.code);
    case "region":
      return catalog.regionBySlug.get(selection.slug);
    default:
      return selection satisfies never;
  }
}

/** Returns the selection of a place for a link. */
export function selectionOf(place: Place): Selection {
  switch (place.kind) {
    case "airport":
      return { kind: "airport", iata: place.airport.iata };
    case "city":
      return { kind: "city", id: place.id };
    case "country":
      return { kind: "country", code: place.country.isoCode2 };
    case "region":
      return { kind: "region", slug: place.region.slug };
    default:
      return place satisfies never;
  }
}

/** Returns a place's name; for a region in the answer's locale. */
export function placeName(place: Place): string {
  switch (place.kind) {
    case "airport":
      return place.airport.name;
    case "city":
      return place.city.name;
    case "country":
      return place.country.nameEng;
    case "region":
      return place.region.nameLocalized;
    default:
      return place satisfies never;
  }
}

/** Returns a note that distinguishes places with the same name. */
export function placeContext(place: Place): string {
  switch (place.kind) {
    case "airport":
      return `${place.city.city.name}, ${place.city.country.country.nameEng}`;
    case "city":
      return place.country.country.nameEng;
    case "country":
      return place.country.isoCode3;
    case "region":
      return place.region.nameLocalized === place.region.name ? "" : place.region.name;
    default:
      return place satisfies never;
  }
}
