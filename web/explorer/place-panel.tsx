import type { ComponentChildren, ComponentProps } from "preact";
import { useMemo } from "preact/hooks";
import { subdivisionOf } from "../../client/src/suggestion.ts";
import { originOfId } from "../../src/catalog/id-origin.ts";
import { CopyButton } from "../shared/copy-button.tsx";
import { formatPosition } from "../shared/format.ts";
import { AnswerView } from "./answer-view.tsx";
import type {
  AirportPlace,
  CityPlace,
  CountryPlace,
  Place,
  RegionPlace,
} from "../../client/src/catalog.ts";
import { PanelHead } from "./panel-head.tsx";
import type { Position } from "./permalink.ts";
import { PlaceLink, PlaceName } from "./place-link.tsx";
import { PlaceList } from "./place-list.tsx";
import { byAirports, byCitySize, byImportance, closedText } from "./places.ts";

interface Props {
  readonly place: Place;
  readonly locale: string;
  readonly onSelect: (place: Place) => void;
  /** The answer that the place is of. */
  readonly answer: Omit<ComponentProps<typeof AnswerView>, "place">;
  readonly onNear: (position: Position) => void;
  readonly onClose: () => void;
}

/** Shows a place with links to related places. */
export function PlacePanel({ place, locale, answer, onSelect, onNear, onClose }: Props) {
  const lists = useMemo(() => listsOf(place), [place]);
  const links = { locale, onSelect };
  return (
    <article class="place stack">
      <PanelHead
        above={<Trail place={place} {...links} />}
        heading={
          <>
            {place.kind === "airport" && (
              <>
                {/* A space, because a margin is on the wrong side of a code in a text from right to left. */}
                <span class="place-code">{place.iata}</span>{" "}
              </>
            )}
            <PlaceName place={place} locale={locale} />
          </>
        }
        subject={place.id}
        onClose={onClose}
      />
      <dl class="facts">
        {[
          ...factsOf(place, links),
          ["ID", <code class="id">{place.id}</code>] as const,
          ["Source", originOfId(place.id)] as const,
        ].map(([name, value]) => (
          <div key={name} class="fact">
            <dt>{name}</dt>
            <dd>{value || <span class="none">none</span>}</dd>
          </div>
        ))}
      </dl>
      {lists.map(([title, places]) => (
        <PlaceList key={title} title={title} places={places} {...links} />
      ))}
      <AnswerView place={place} {...answer} />
      <div class="row place-actions">
        {"lat" in place && (
          <button type="button" class="button" onClick={() => onNear(place)}>
            Airports nearby
          </button>
        )}
        <CopyButton label="Copy link" text={() => window.location.href} />
      </div>
    </article>
  );
}

function Trail({ place, ...links }: Pick<Props, "place" | "locale" | "onSelect">) {
  return (
    <nav aria-label="Belongs to" class="trail">
      <span class="eyebrow">{place.kind}</span>
      {trailOf(place).map((above) => (
        <span key={above.kind}>
          <span aria-hidden="true"> · </span>
          <PlaceLink place={above} {...links} />
        </span>
      ))}
    </nav>
  );
}

function trailOf(place: Place): Place[] {
  if (place.kind === "airport") return [...trailOf(place.city), place.city];
  if (place.kind !== "city") return [];
  const region = subdivisionOf(place);
  return region ? [place.country, region] : [place.country];
}

type Fact = [name: string, value: ComponentChildren];

/** The facts of an airport by their fields. The others are shown elsewhere. */
type AirportFacts = {
  readonly [
    F in Exclude<
      keyof AirportPlace,
      "kind" | "id" | "iata" | "name" | "tier" | "hasScheduledService" | "rank" | "lon" | "regions"
    >
  ]: readonly Fact[];
};

function factsOf(place: Place, links: Pick<Props, "locale" | "onSelect">): Fact[] {
  switch (place.kind) {
    case "airport":
      return Object.values({
        officialName:
          place.name === place.officialName
            ? []
            : [["Official name", <bdi>{place.officialName}</bdi>]],
        icao: [["ICAO", place.icao]],
        city: [
          ["City", <PlaceLink place={place.city} {...links} />],
          ["Country", <PlaceLink place={place.city.country} {...links} />],
        ],
        lat: [["Position", formatPosition(place.lat, place.lon)]],
        timeZone: [["Time zone", place.timeZone]],
        replaces:
          place.replaces.length === 0
            ? []
            : [["Replaces", place.replaces.map((closed) => <div>{closedText(closed)}</div>)]],
      } satisfies AirportFacts).flat();
    case "city":
      return [
        ["Country", <PlaceLink place={place.country} {...links} />],
        ["Position", formatPosition(place.lat, place.lon)],
      ];
    case "country":
      return [
        ["ISO 3166-1", `${place.code} · ${place.code3}`],
        ["Native name", <bdi>{place.nameNative}</bdi>],
        ["In English", place.name],
        ["Calling code", place.phonePrefix && `+${place.phonePrefix}`],
      ];
    case "region":
      return [
        ["In English", place.nameEnglish],
        ["Slug", <code>{place.slug}</code>],
        ["Local slug", <code>{place.slugLocalized}</code>],
      ];
    default:
      return place satisfies never;
  }
}

/** Lists what belongs to a place, the important first. */
function listsOf(place: Place): [title: string, places: readonly Place[]][] {
  switch (place.kind) {
    case "airport":
      return [["Regions", place.regions]];
    case "city":
      return [
        ["Airports", place.airports.toSorted(byImportance)],
        ["Regions", regionsOf(place)],
      ];
    case "country":
      return listsOfCountry(place);
    case "region": {
      const countries = [...Map.groupBy(place.airports, ({ city }) => city.country)];
      return [
        [
          "Countries",
          countries.toSorted(([, a], [, b]) => b.length - a.length).map(([country]) => country),
        ],
        ["Airports", place.airports.toSorted(byImportance)],
      ];
    }
    default:
      return place satisfies never;
  }
}

function listsOfCountry(country: CountryPlace): [title: string, places: readonly Place[]][] {
  const isWithin = ({ airports }: RegionPlace) =>
    airports.every(({ city }) => city.country === country);
  return [
    ["Regions", country.regions.filter(isWithin).toSorted(byAirports)],
    ["Part of", country.regions.filter((region) => !isWithin(region))],
    ["Cities", country.cities.toSorted(byCitySize)],
    ["Airports", country.airports.toSorted(byImportance)],
  ];
}

function regionsOf({ airports }: CityPlace): RegionPlace[] {
  return [...new Set(airports.flatMap(({ regions }) => regions))];
}
