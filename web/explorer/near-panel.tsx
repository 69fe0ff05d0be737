import { CopyButton } from "../shared/copy-button.tsx";
import { formatCount, formatPosition } from "../shared/format.ts";
import type { Place } from "../../client/src/catalog.ts";
import { PanelHead } from "./panel-head.tsx";
import type { Position } from "./permalink.ts";
import { PlaceLink } from "./place-link.tsx";
import type { NearAirport, NearestAirports } from "./places.ts";

interface Props {
  readonly position: Position;
  readonly nearest: NearestAirports;
  readonly locale: string;
  readonly onSelect: (place: Place) => void;
  readonly onClose: () => void;
}

/** Lists the airports nearest to a spot on the map. */
export function NearPanel({ position, nearest, locale, onSelect, onClose }: Props) {
  const links = { locale, onSelect };
  return (
    <article class="place stack">
      <PanelHead
        above={<span class="trail">{formatPosition(position.lat, position.lon)}</span>}
        heading="Nearest airports"
        subject={position}
        onClose={onClose}
      />
      <NearList title="With scheduled flights" airports={nearest.scheduled} {...links} />
      {nearest.others.length > 0 && (
        <NearList title="Without scheduled flights" airports={nearest.others} {...links} />
      )}
      <div class="place-actions">
        <CopyButton label="Copy link" text={() => window.location.href} />
      </div>
    </article>
  );
}

interface ListProps extends Pick<Props, "locale" | "onSelect"> {
  readonly title: string;
  readonly airports: readonly NearAirport[];
}

function NearList({ title, airports, locale, onSelect }: ListProps) {
  return (
    <section class="place-list">
      <h2>{title}</h2>
      <ul>
        {airports.map(({ airport, km }) => (
          <li key={airport.id} class="row">
            <span class="code">{airport.iata}</span>
            <PlaceLink place={airport} locale={locale} onSelect={onSelect} />
            <span class="row-note">{formatCount(Math.round(km))} km</span>
          </li>
        ))}
      </ul>
    </section>
  );
}
