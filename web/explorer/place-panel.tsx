import type { ComponentChildren, ComponentProps } from "preact";
import { useMemo } from "preact/hooks";
import { subdivisionOf } from "../../client/src/suggestion.ts";
import { originOfId } from "../../src/catalog/id-origin.ts";
import { AnswerView } from "./answer-view.tsx";
import type {
  AirportPlace,
  CityPlace,
  CountryPlace,
  Place,
  RegionPlace,
} from "../../client/src/catalog.ts";
import { CopyLink, NearLists } from "./near-panel.tsx";
import { PanelHead } from "./panel-head.tsx";
import type { Position } from "./permalink.ts";
import { PlaceLink, PlaceName } from "./place-link.tsx";
import { PlaceList } from "./place-list.tsx";
import {
  byAirports,
  byCitySize,
  byImportance,
  closedText,
  type NearestAirports,
} from "./places.ts";
import type { Speech } from "./speech.ts";
import { useSpeech } from "./use-speech.ts";

interface Props {
  readonly place: Place;
  readonly locale: string;
  /** Those nearest to it, if it has none. */
  readonly nearest: NearestAirports | undefined;
  readonly onSelect: (place: Place) => void;
  /** The answer that the place is of. */
  readonly answer: Omit<ComponentProps<typeof AnswerView>, "place">;
  readonly onNear: (position: Position) => void;
  readonly onClose: () => void;
}

/** Shows a place with links to related places. */
export function PlacePanel(props: Props) {
  const { place, locale, nearest, answer, onSelect, onNear, onClose } = props;
  const speech = useSpeech();
  const { words } = speech;
  const lists = useMemo(() => listsOf(place, words), [place, words]);
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
          ...factsOf(place, { ...links, speech }),
          ["ID", <code class="id">{place.id}</code>] as const,
          [words.source, originOfId(place.id)] as const,
        ].map(([name, value]) => (
          <div key={name} class="fact">
            <dt>{name}</dt>
            <dd>{value || <span class="none">–</span>}</dd>
          </div>
        ))}
      </dl>
      {place.kind !== "airport" && place.airports.length === 0 && <p>{words.nowhere}</p>}
      {nearest && <NearLists nearest={nearest} {...links} />}
      {lists.map(([title, places]) => (
        <PlaceList key={title} title={title} places={places} {...links} />
      ))}
      <AnswerView place={place} {...answer} />
      <div class="row place-actions">
        {"lat" in place && (
          <button type="button" class="button" onClick={() => onNear(place)}>
            {words.nearby}
          </button>
        )}
        <CopyLink />
      </div>
    </article>
  );
}

function Trail({ place, ...links }: Pick<Props, "place" | "locale" | "onSelect">) {
  const { words } = useSpeech();
  return (
    <nav aria-label={words.belongsTo} class="trail">
      <span class="eyebrow">{words[place.kind]}</span>
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

interface FactsContext extends Pick<Props, "locale" | "onSelect"> {
  readonly speech: Speech;
}

function factsOf(place: Place, { speech, ...links }: FactsContext): Fact[] {
  const { words, position } = speech;
  switch (place.kind) {
    case "airport":
      return Object.values({
        officialName:
          place.name === place.officialName
            ? []
            : [[words.officialName, <bdi>{place.officialName}</bdi>]],
        icao: [["ICAO", place.icao]],
        city: [
          [words.city, <PlaceLink place={place.city} {...links} />],
          [words.country, <PlaceLink place={place.city.country} {...links} />],
        ],
        lat: [[words.position, position(place)]],
        timeZone: [[words.timeZone, place.timeZone]],
        replaces:
          place.replaces.length === 0
            ? []
            : [
                [
                  words.replaces,
                  place.replaces.map((closed) => <div>{closedText(closed, speech)}</div>),
                ],
              ],
      } satisfies AirportFacts).flat();
    case "city":
      return [
        [words.country, <PlaceLink place={place.country} {...links} />],
        [words.position, position(place)],
      ];
    case "country":
      return [
        ["ISO 3166-1", `${place.code} · ${place.code3}`],
        [words.nativeName, <bdi>{place.nameNative}</bdi>],
        [words.inEnglish, place.name],
        [words.callingCode, place.phonePrefix && <bdi dir="ltr">+{place.phonePrefix}</bdi>],
      ];
    case "region":
      return [
        [words.inEnglish, place.nameEnglish],
        ["Slug", <code>{place.slug}</code>],
        [`Slug (${links.locale})`, <code>{place.slugLocalized}</code>],
      ];
    default:
      return place satisfies never;
  }
}

type TitledPlaces = [title: string, places: readonly Place[]];

/** Lists what belongs to a place, the important first. */
function listsOf(place: Place, words: Speech["words"]): TitledPlaces[] {
  switch (place.kind) {
    case "airport":
      return [[words.regions, place.regions]];
    case "city":
      return [
        [words.airports, place.airports.toSorted(byImportance)],
        [words.regions, regionsOf(place)],
      ];
    case "country":
      return listsOfCountry(place, words);
    case "region": {
      const countries = [...Map.groupBy(place.airports, ({ city }) => city.country)];
      return [
        [
          words.countries,
          countries.toSorted(([, a], [, b]) => b.length - a.length).map(([country]) => country),
        ],
        [words.airports, place.airports.toSorted(byImportance)],
      ];
    }
    default:
      return place satisfies never;
  }
}

function listsOfCountry(country: CountryPlace, words: Speech["words"]): TitledPlaces[] {
  const within = country.regions.filter((region) => isWithin(region, country));
  return [
    [words.regions, within.toSorted(byAirports)],
    [words.partOf, country.regions.filter((region) => !within.includes(region))],
    [words.cities, country.cities.toSorted(byCitySize)],
    [words.airports, country.airports.toSorted(byImportance)],
  ];
}

function isWithin({ airports }: RegionPlace, country: CountryPlace): boolean {
  return airports.every(({ city }) => city.country === country);
}

/** The regions of a city's airports: those of its country first, of these the ones that have most of them. */
function regionsOf({ airports, country }: CityPlace): RegionPlace[] {
  const regions = [
    ...Map.groupBy(
      airports.flatMap((airport) => airport.regions),
      (region) => region,
    ),
  ];
  return regions
    .toSorted(
      ([a, inA], [b, inB]) =>
        Number(isWithin(b, country)) - Number(isWithin(a, country)) || inB.length - inA.length,
    )
    .map(([region]) => region);
}
