import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { originOfId } from "../../catalog/id-origin.ts";
import { formatCount, formatPosition } from "../shared/format.ts";
import { CopyButton } from "../shared/copy-button.tsx";
import type { AirportPlace, CityPlace, CountryPlace, Place, RegionPlace } from "./catalog-index.ts";
import { uuidText } from "./catalog-index.ts";
import { PlaceLink } from "./place-link.tsx";
import { PlaceList } from "./place-list.tsx";
import { placeName } from "./places.ts";
import { textDirection } from "./text-direction.ts";

interface Props {
  readonly place: Place;
  readonly locale: string;
  readonly onSelect: (place: Place) => void;
  readonly onClose: () => void;
}

/** Shows a place with links to related places. */
export function PlacePanel({ place, locale, onSelect, onClose }: Props) {
  const heading = useRef<HTMLHeadingElement>(null);
  const name = placeName(place);
  useEffect(() => heading.current?.focus({ preventScroll: true }), [place.kind, name]);
  const isRegion = place.kind === "region";
  return (
    <article class="place">
      <div class="place-top">
        <Trail place={place} onSelect={onSelect} locale={locale} />
        <button
          type="button"
          class="icon-button"
          aria-label="Close"
          title="Close"
          onClick={onClose}
        >
          <span aria-hidden="true">×</span>
        </button>
      </div>
      <h1 ref={heading} tabIndex={-1} class="place-name">
        {place.kind === "airport" && <span class="place-code">{place.airport.iata}</span>}
        <bdi {...(isRegion ? { lang: locale, dir: textDirection(locale) } : {})}>{name}</bdi>
      </h1>
      <Details place={place} locale={locale} onSelect={onSelect} />
      <div class="place-actions">
        <CopyButton label="Copy link" text={() => window.location.href} />
      </div>
    </article>
  );
}

interface PartProps<P> {
  readonly place: P;
  readonly locale: string;
  readonly onSelect: (place: Place) => void;
}

/** Breadcrumbs from the country to the place. */
function Trail({ place, locale, onSelect }: PartProps<Place>) {
  const trail = trailOf(place);
  return (
    <nav aria-label="Belongs to" class="trail">
      <span class="eyebrow">{place.kind}</span>
      {trail.map((above) => (
        <span key={above.kind}>
          <span aria-hidden="true"> · </span>
          <PlaceLink place={above} locale={locale} onSelect={onSelect} />
        </span>
      ))}
    </nav>
  );
}

function trailOf(place: Place): Place[] {
  switch (place.kind) {
    case "airport":
      return [place.city.country, place.city];
    case "city":
      return [place.country];
    case "country":
    case "region":
      return [];
    default:
      return place satisfies never;
  }
}

function Details({ place, ...rest }: PartProps<Place>) {
  switch (place.kind) {
    case "airport":
      return <AirportDetails place={place} {...rest} />;
    case "city":
      return <CityDetails place={place} {...rest} />;
    case "country":
      return <CountryDetails place={place} {...rest} />;
    case "region":
      return <RegionDetails place={place} {...rest} />;
    default:
      return place satisfies never;
  }
}

function AirportDetails({ place, locale, onSelect }: PartProps<AirportPlace>) {
  const { airport, city, regions } = place;
  return (
    <>
      <dl class="facts">
        <Fact name="IATA">{airport.iata}</Fact>
        <Fact name="ICAO">{airport.icao || <span class="none">none</span>}</Fact>
        <Fact name="City">
          <PlaceLink place={city} locale={locale} onSelect={onSelect} />
        </Fact>
        <Fact name="Country">
          <PlaceLink place={city.country} locale={locale} onSelect={onSelect} />
        </Fact>
        <Fact name="Position">{formatPosition(airport.lat, airport.lon)}</Fact>
        <IdFacts id={uuidText(airport.id)} />
      </dl>
      <PlaceList title="Regions" places={regions} locale={locale} onSelect={onSelect} />
    </>
  );
}

/** The id, and the source whose number it has. */
function IdFacts({ id }: { readonly id: string }) {
  return (
    <>
      <Fact name="Id">
        <code class="id">{id}</code>
      </Fact>
      <Fact name="Source">{originOfId(id) ?? <span class="none">unknown</span>}</Fact>
    </>
  );
}

function CityDetails({ place, locale, onSelect }: PartProps<CityPlace>) {
  return (
    <>
      <dl class="facts">
        <Fact name="Country">
          <PlaceLink place={place.country} locale={locale} onSelect={onSelect} />
        </Fact>
        <Fact name="Position">{formatPosition(place.city.lat, place.city.lon)}</Fact>
        <IdFacts id={place.id} />
      </dl>
      <PlaceList title="Airports" places={place.airports} locale={locale} onSelect={onSelect} />
      <PlaceList title="Regions" places={regionsOf(place)} locale={locale} onSelect={onSelect} />
    </>
  );
}

function regionsOf({ airports }: CityPlace): RegionPlace[] {
  return [...new Set(airports.flatMap(({ regions }) => regions))];
}

function CountryDetails({ place, locale, onSelect }: PartProps<CountryPlace>) {
  const { country } = place;
  return (
    <>
      <dl class="facts">
        <Fact name="ISO 3166-1">
          {country.isoCode2} · {country.isoCode3}
        </Fact>
        <Fact name="Own name">
          <bdi>{country.nameNative}</bdi>
        </Fact>
        <Fact name="Dialling">
          {country.phonePrefix ? `+${country.phonePrefix}` : <span class="none">none</span>}
        </Fact>
        <Fact name="Airports">{formatCount(place.airports.length)}</Fact>
        <IdFacts id={uuidText(country.id)} />
      </dl>
      <PlaceList title="Regions" places={place.regions} locale={locale} onSelect={onSelect} />
      <PlaceList title="Cities" places={place.cities} locale={locale} onSelect={onSelect} />
      <PlaceList title="Airports" places={place.airports} locale={locale} onSelect={onSelect} />
    </>
  );
}

function RegionDetails({ place, locale, onSelect }: PartProps<RegionPlace>) {
  const { region, airports } = place;
  return (
    <>
      <dl class="facts">
        <Fact name="In English">{region.name}</Fact>
        <Fact name="Slug">
          <code>{region.slug}</code>
        </Fact>
        <Fact name="Local slug">
          <code>
            <bdi>{region.slugLocalized}</bdi>
          </code>
        </Fact>
        <Fact name="Airports">{formatCount(airports.length)}</Fact>
        <IdFacts id={uuidText(region.id)} />
      </dl>
      <PlaceList
        title="Countries"
        places={[...new Set(airports.map(({ city }) => city.country))]}
        locale={locale}
        onSelect={onSelect}
      />
      <PlaceList title="Airports" places={airports} locale={locale} onSelect={onSelect} />
    </>
  );
}

function Fact({ name, children }: { name: string; children: ComponentChildren }) {
  return (
    <div class="fact">
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}
