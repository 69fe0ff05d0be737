import { useEffect, useMemo } from "preact/hooks";
import { CallPanel } from "./call-panel.tsx";
import { FailureNotice } from "./failure-notice.tsx";
import { WorldMap } from "./map/world-map.tsx";
import { Overview } from "./overview.tsx";
import { PlacePanel } from "./place-panel.tsx";
import { findPlace, placeName, selectionOf } from "./places.ts";
import type { Place } from "./catalog-index.ts";
import { SearchBox } from "./search-box.tsx";
import { useCall } from "./use-call.ts";
import { usePermalink } from "./use-permalink.ts";

const TITLE = "Locations at the Edge";

/** The explorer: a browser client of its own service. */
export function Explorer() {
  const [{ call, selection }, go] = usePermalink();
  const [{ isCalling, facts, failure, loaded }, callAgain] = useCall(call);
  const selected = useMemo(
    () => (loaded && selection ? findPlace(loaded.catalog, selection) : undefined),
    [loaded, selection],
  );
  useEffect(() => {
    document.title = selected ? `${placeName(selected)} · ${TITLE}` : TITLE;
  }, [selected]);
  const select = (place: Place) => go({ selection: selectionOf(place) });
  const isMissing = loaded !== undefined && selection !== null && selected === undefined;

  return (
    <div class="explorer">
      <div class="side">
        <SearchBox search={loaded?.search} locale={loaded?.locale ?? "en"} onSelect={select} />
        {failure && <FailureNotice failure={failure} onRetry={callAgain} />}
        {isMissing && (
          <p class="notice" role="status">
            This catalog has nothing of the name that the link asks for. Search for it instead.
          </p>
        )}
        <div class="side-scroll" tabIndex={-1}>
          {loaded === undefined && isCalling && <Loading />}
          {loaded && selected && (
            <PlacePanel
              key={JSON.stringify(selection)}
              place={selected}
              locale={loaded.locale}
              onSelect={select}
              onClose={() => go({ selection: null })}
            />
          )}
          {loaded && !selected && (
            <Overview catalog={loaded.catalog} locale={loaded.locale} onSelect={select} />
          )}
        </div>
      </div>
      <WorldMap catalog={loaded?.catalog} selected={selected} onSelect={select} />
      <CallPanel
        settings={call}
        facts={facts}
        isCalling={isCalling}
        hasFailed={failure !== undefined}
        onChange={(change) => go({ call: { ...call, ...change } })}
        onCall={callAgain}
      />
    </div>
  );
}

function Loading() {
  return (
    <div class="loading" role="status">
      <p>Calling GetLocationsV1 …</p>
      <div class="skeleton" />
      <div class="skeleton" />
      <div class="skeleton" />
    </div>
  );
}
