import { useEffect, useRef, useState } from "preact/hooks";
import type { AirportPlace, Place } from "../../client/src/catalog.ts";
import { PlaceLink } from "./place-link.tsx";
import { selectionOf } from "./places.ts";
import type { Speech } from "./speech.ts";
import { useSpeech } from "./use-speech.ts";

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
  const speech = useSpeech();
  const { words, format, fill } = speech;
  const [isWhole, setWhole] = useState(false);
  const list = useRef<HTMLUListElement>(null);
  useEffect(() => {
    // The button is gone that had the focus.
    if (isWhole) list.current?.children[FIRST_ROWS]?.querySelector("a")?.focus();
  }, [isWhole]);
  if (places.length === 0) return null;
  const shown = isWhole ? places : places.slice(0, FIRST_ROWS);
  return (
    <section class="place-list">
      <h2>
        {title} <span class="count">{format("count", places.length)}</span>
      </h2>
      <ul ref={list}>
        {shown.map((place) => (
          <li key={selectionOf(place).key} class="row">
            {place.kind === "airport" && <span class="code">{place.iata}</span>}
            <PlaceLink place={place} locale={locale} onSelect={onSelect} />
            <span class="row-note">
              {place.kind === "airport"
                ? airportNote(place, speech)
                : speech.countAirports(place.airports.length)}
            </span>
          </li>
        ))}
      </ul>
      {shown.length < places.length && (
        <button type="button" class="link-button" onClick={() => setWhole(true)}>
          {fill(words.all, { count: places.length })}
        </button>
      )}
    </section>
  );
}

function airportNote({ city, tier }: AirportPlace, { words }: Speech): string {
  return tier === 3 ? `${city.nameLocal} · ${words.noFlights}` : city.nameLocal;
}
