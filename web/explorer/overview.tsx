import { useMemo } from "preact/hooks";
import type { Place } from "../../client/src/catalog.ts";
import { type ListName, LISTS } from "../../src/schemas/lists.ts";
import { PlaceList } from "./place-list.tsx";
import { byAirports } from "./places.ts";
import { useSpeech } from "./use-speech.ts";
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
  const { words, format, fill } = useSpeech();
  const whole = catalog?.isWhole === true ? catalog : undefined;
  const countOf = (list: ListName) => whole?.[list].length ?? published?.[list];
  const countText = (count: number | undefined) =>
    count === undefined ? "–" : format("count", count);
  return (
    <div class="overview stack">
      <h1 class="place-name">{words.heading}</h1>
      <p>{words.introduction}</p>
      <dl class="counts">
        {LISTS.map((name) => (
          <div key={name}>
            <dt>{words[name]}</dt>
            <dd>{countText(countOf(name))}</dd>
          </div>
        ))}
      </dl>
      {catalog && catalog.version > 1 && (
        <button type="button" class="link-button" onClick={onShowChanges}>
          {fill(words.changes, { version: String(catalog.version) })}
        </button>
      )}
      {catalog && <LargestPlaces catalog={catalog} onSelect={onSelect} />}
      {!catalog && isCalling && <Loading progress={progress} />}
    </div>
  );
}

function LargestPlaces({
  catalog,
  onSelect,
}: Pick<Props, "onSelect"> & { readonly catalog: LoadedCatalog }) {
  const { words } = useSpeech();
  const { regions, countries, locale } = catalog;
  const [largestCountries, largestRegions] = useMemo(
    () => [countries.toSorted(byAirports), regions.toSorted(byAirports)],
    [catalog],
  );
  return (
    <>
      <PlaceList
        title={words.countries}
        places={largestCountries}
        locale={locale}
        onSelect={onSelect}
      />
      <PlaceList
        title={words.regions}
        places={largestRegions}
        locale={locale}
        onSelect={onSelect}
      />
    </>
  );
}

function Loading({ progress }: { readonly progress: Progress | undefined }) {
  const { words, format } = useSpeech();
  return (
    <div class="loading">
      <p role="status">{words.loading}</p>
      <progress
        aria-label={words.loading}
        {...(progress?.share != null && { value: progress.share })}
      />
      <p>{progress && format("megabyte", progress.bytes / 1e6)}</p>
    </div>
  );
}
