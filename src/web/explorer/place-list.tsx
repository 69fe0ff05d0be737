import { useState } from "preact/hooks";
import { formatCount } from "../shared/format.ts";
import type { Place } from "./catalog-index.ts";
import { PlaceLink } from "./place-link.tsx";

interface Props {
  readonly title: string;
  readonly places: readonly Place[];
  readonly locale: string;
  readonly onSelect: (place: Place) => void;
}

/** Visible rows of a collapsed list. */
const FIRST_ROWS = 12;

/** A titled list of places. A long list is collapsed at first. */
export function PlaceList({ title, places, locale, onSelect }: Props) {
  const [isWhole, setWhole] = useState(false);
  if (places.length === 0) return null;
  const shown = isWhole ? places : places.slice(0, FIRST_ROWS);
  return (
    <section class="place-list">
      <h2>
        {title} <span class="count">{formatCount(places.length)}</span>
      </h2>
      <ul>
        {shown.map((place) => (
          <li key={rowKey(place)}>
            {place.kind === "airport" && <span class="code">{place.airport.iata}</span>}
            <PlaceLink place={place} locale={locale} onSelect={onSelect} />
            <span class="row-note">{rowNote(place)}</span>
          </li>
        ))}
      </ul>
      {shown.length < places.length && (
        <button type="button" class="link-button" onClick={() => setWhole(true)}>
          Show all {formatCount(places.length)}
        </button>
      )}
    </section>
  );
}

function rowKey(place: Place): string {
  switch (place.kind) {
    case "airport":
      return place.airport.iata;
    case "city":
      return place.id;
    case "country":
      return place.country.isoCode2;
    case "region":
      return place.region.slug;
    default:
      return place satisfies never;
  }
}

/** Returns the number of airports as a note for the row. */
function rowNote(place: Place): string {
  if (place.kind === "airport") return place.city.city.name;
  const { length } = place.airports;
  return length === 1 ? "1 airport" : `${formatCount(length)} airports`;
}
