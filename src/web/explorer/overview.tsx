import { useMemo } from "preact/hooks";
import { formatCount } from "../shared/format.ts";
import type { Place } from "../../../client/src/catalog.ts";
import { PlaceList } from "./place-list.tsx";
import { byAirports } from "./places.ts";
import type { LoadedCatalog } from "./use-catalog.ts";

interface Props {
  readonly catalog: LoadedCatalog;
  readonly onSelect: (place: Place) => void;
}

/** Shows the counts of the catalog while nothing is selected. */
export function Overview({ catalog, onSelect }: Props) {
  const { airports, cities, countries, regions, locale } = catalog;
  const [largestRegions, largestCountries] = useMemo(
    () => [regions.toSorted(byAirports), countries.toSorted(byAirports)],
    [catalog],
  );
  const counts = { airports, cities, countries, regions };
  return (
    <div class="overview stack">
      <h1 class="place-name">The world in one call</h1>
      <p>
        Every airport with an IATA code, with its city, country and regions. Search, or choose one
        on the map. The names of regions are in your language.
      </p>
      <dl class="counts">
        {Object.entries(counts).map(([name, { length }]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{formatCount(length)}</dd>
          </div>
        ))}
      </dl>
      <PlaceList title="Regions" places={largestRegions} locale={locale} onSelect={onSelect} />
      <PlaceList title="Countries" places={largestCountries} locale={locale} onSelect={onSelect} />
    </div>
  );
}
