import { useMemo } from "preact/hooks";
import { formatBytes, formatCount } from "../shared/format.ts";
import type { Place } from "../../client/src/catalog.ts";
import { type ListName, LISTS } from "../../src/schemas/lists.ts";
import { INTRODUCTION } from "./introduction.ts";
import { PlaceList } from "./place-list.tsx";
import { byAirports } from "./places.ts";
import type { LoadedCatalog } from "./use-catalog.ts";
import type { Health } from "./use-health.ts";
import type { Progress } from "./wire.ts";

interface Props {
  /** Undefined while none is loaded. */
  readonly catalog: LoadedCatalog | undefined;
  readonly published: Health["counts"];
  readonly isCalling: boolean;
  readonly progress: Progress | undefined;
  readonly onSelect: (place: Place) => void;
  readonly onShowChanges: () => void;
}

/** Shows the counts of the catalog while nothing is selected. */
export function Overview({
  catalog,
  published,
  isCalling,
  progress,
  onSelect,
  onShowChanges,
}: Props) {
  const whole = catalog?.isWhole === true ? catalog : undefined;
  const countOf = (list: ListName) => whole?.[list].length ?? published?.[list];
  return (
    <div class="overview stack">
      <h1 class="place-name">{INTRODUCTION.heading}</h1>
      <p>{INTRODUCTION.text}</p>
      <dl class="counts">
        {LISTS.map((name) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{countText(countOf(name))}</dd>
          </div>
        ))}
      </dl>
      {catalog && catalog.version > 1 && (
        <button type="button" class="link-button" onClick={onShowChanges}>
          What version {catalog.version} changed
        </button>
      )}
      {catalog && <LargestPlaces catalog={catalog} onSelect={onSelect} />}
      {!catalog && isCalling && <Loading progress={progress} />}
    </div>
  );
}

function countText(count: number | undefined): string {
  return count === undefined ? "–" : formatCount(count);
}

function LargestPlaces({
  catalog,
  onSelect,
}: Pick<Props, "onSelect"> & { readonly catalog: LoadedCatalog }) {
  const { regions, countries, locale } = catalog;
  const [largestCountries, largestRegions] = useMemo(
    () => [countries.toSorted(byAirports), regions.toSorted(byAirports)],
    [catalog],
  );
  return (
    <>
      <PlaceList title="Countries" places={largestCountries} locale={locale} onSelect={onSelect} />
      <PlaceList title="Regions" places={largestRegions} locale={locale} onSelect={onSelect} />
    </>
  );
}

function Loading({ progress }: { readonly progress: Progress | undefined }) {
  return (
    <div class="loading">
      <p role="status">Loading the catalog …</p>
      <progress aria-label="Loaded" {...(progress?.share != null && { value: progress.share })} />
      <p>{progress && formatBytes(progress.bytes)}</p>
    </div>
  );
}
