import { CopyButton } from "../shared/copy-button.tsx";
import type { Place } from "../../client/src/catalog.ts";
import { PanelHead } from "./panel-head.tsx";
import type { Position } from "./permalink.ts";
import { PlaceLink } from "./place-link.tsx";
import type { NearAirport, NearestAirports } from "./places.ts";
import { useSpeech } from "./use-speech.ts";

interface Props {
  readonly position: Position;
  readonly nearest: NearestAirports;
  readonly locale: string;
  readonly onSelect: (place: Place) => void;
  readonly onClose: () => void;
}

/** Lists the airports nearest to a spot on the map. */
export function NearPanel({ position, nearest, locale, onSelect, onClose }: Props) {
  const { words, position: positionText } = useSpeech();
  const links = { locale, onSelect };
  return (
    <article class="place stack">
      <PanelHead
        above={<span class="trail">{positionText(position)}</span>}
        heading={words.nearest}
        subject={position}
        onClose={onClose}
      />
      <NearLists nearest={nearest} {...links} />
      <div class="place-actions">
        <CopyLink />
      </div>
    </article>
  );
}

/** The nearest airports, those with scheduled flights first. */
export function NearLists({ nearest, ...links }: Pick<Props, "nearest" | "locale" | "onSelect">) {
  const { words } = useSpeech();
  return (
    <>
      <NearList title={words.flights} airports={nearest.scheduled} {...links} />
      {nearest.others.length > 0 && (
        <NearList title={words.withoutFlights} airports={nearest.others} {...links} />
      )}
    </>
  );
}

/** Copies the address of what is shown. */
export function CopyLink() {
  const { words } = useSpeech();
  return (
    <CopyButton
      label={words.copyLink}
      answers={{ copied: words.copied, refused: words.copyRefused }}
      text={() => window.location.href}
    />
  );
}

interface ListProps extends Pick<Props, "locale" | "onSelect"> {
  readonly title: string;
  readonly airports: readonly NearAirport[];
}

function NearList({ title, airports, locale, onSelect }: ListProps) {
  const { format } = useSpeech();
  return (
    <section class="place-list">
      <h2>{title}</h2>
      <ul>
        {airports.map(({ airport, km }) => (
          <li key={airport.id} class="row">
            <span class="code">{airport.iata}</span>
            <PlaceLink place={airport} locale={locale} onSelect={onSelect} />
            <span class="row-note">{format("kilometer", Math.round(km))}</span>
          </li>
        ))}
      </ul>
    </section>
  );
}
