import { formatCount } from "../shared/format.ts";
import type { CatalogIndex, Place } from "./catalog-index.ts";
import { PlaceList } from "./place-list.tsx";

interface Props {
  readonly catalog: CatalogIndex;
  readonly locale: string;
  readonly onSelect: (place: Place) => void;
}

/** Shows the counts of the catalog while nothing is selected. */
export function Overview({ catalog, locale, onSelect }: Props) {
  const { airports, cities, countries, regions } = catalog;
  return (
    <div class="overview">
      <h1 class="place-name">The world, in one call</h1>
      <p>
        Every dot is an airport with an IATA code. Search, or click one, and follow it to its city,
        country and regions. Names of regions are in the language that you choose.
      </p>
      <dl class="counts">
        <Count name="airports" count={airports.length} />
        <Count name="cities" count={cities.length} />
        <Count name="countries" count={countries.length} />
        <Count name="regions" count={regions.length} />
      </dl>
      <PlaceList
        title="Regions"
        places={regions.toSorted(bySizeAndName)}
        locale={locale}
        onSelect={onSelect}
      />
      <PlaceList
        title="Countries"
        places={countries.toSorted((a, b) => b.airports.length - a.airports.length)}
        locale={locale}
        onSelect={onSelect}
      />
    </div>
  );
}

function bySizeAndName(a: CatalogIndex["regions"][number], b: typeof a): number {
  return b.airports.length - a.airports.length || a.region.slug.localeCompare(b.region.slug, "en");
}

function Count({ name, count }: { name: string; count: number }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{formatCount(count)}</dd>
    </div>
  );
}
