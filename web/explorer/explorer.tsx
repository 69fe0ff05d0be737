import { useEffect, useMemo, useRef } from "preact/hooks";
import { CallPanel } from "./call-panel.tsx";
import { ChangesPanel, changedAirports } from "./changes-panel.tsx";
import type { Place } from "../../client/src/catalog.ts";
import { readLocale } from "../../client/src/options.ts";
import { type MapView, NOWHERE, type Position } from "./permalink.ts";
import { FailureNotice } from "./failure-notice.tsx";
import { untilIdle } from "./idle.ts";
import { LocalePicker } from "./locale-picker.tsx";
import { WorldMap } from "./map/world-map.tsx";
import { NearPanel } from "./near-panel.tsx";
import { keepForOffline } from "./offline.ts";
import { Overview } from "./overview.tsx";
import { PlacePanel } from "./place-panel.tsx";
import { findPlace, nameIn, nearestAirports, selectionOf } from "./places.ts";
import { positionOf } from "./positions.ts";
import { SearchBox } from "./search-box.tsx";
import { SpeechContext, useSpeechFor } from "./use-speech.ts";
import { textDirection } from "./text-direction.ts";
import { useCatalog } from "./use-catalog.ts";
import { useChanges } from "./use-changes.ts";
import { useHealth } from "./use-health.ts";
import { usePermalink } from "./use-permalink.ts";

const TITLE = "Locations at the Edge";

/** The explorer: a browser client of this service. */
export function Explorer() {
  const [link, go] = usePermalink();
  const side = useRef<HTMLDivElement>(null);
  const { selection } = link;
  const shown = useRef<MapView | null>(link.view);
  const call = { ...link.call, locale: readLocale(link.call.locale || navigator.language) };
  const speech = useSpeechFor(call.locale);
  const { words } = speech;
  const port = useCatalog(call);
  const { catalog, failure, isCalling } = port;
  const health = useHealth(catalog !== undefined);
  const selected = useMemo(
    () => (catalog && selection ? findPlace(catalog, selection) : undefined),
    [catalog, selection?.kind, selection?.key],
  );
  // Of what has no airport, those nearest to it are shown.
  const near = link.near ?? positionOf(selected);
  const nearest = useMemo(
    () => (catalog && near ? nearestAirports(catalog.airports, near) : undefined),
    [catalog, near?.lat, near?.lon],
  );
  const onMap = useMemo(
    () => near && nearest && { ...near, airports: nearest.scheduled.map(({ airport }) => airport) },
    [nearest],
  );
  const changes = useChanges(catalog, link.changes);
  const changed = useMemo(
    () =>
      catalog &&
      changes.state === "known" && {
        airports: changedAirports(catalog, changes),
        removed: changes.lists.airports.removed,
      },
    [catalog, changes],
  );
  const locale = catalog?.locale ?? (call.locale || "en");
  const isLoaded = catalog?.isWhole === true;
  useTitle(selected, locale);
  useLanguage(speech.language);
  useOffline(isLoaded);
  const select = (place: Place) => go({ selection: selectionOf(place), near: null, view: null });
  const showNear = (position: Position, view: MapView | null) =>
    go({ ...NOWHERE, near: roundPosition(position), view });
  const close = () => {
    go({ ...NOWHERE, view: shown.current });
    side.current?.focus({ preventScroll: true });
  };
  const isMissing = isLoaded && selection !== null && selected === undefined;

  return (
    <SpeechContext value={speech}>
      <div class="explorer">
        <div class="side">
          <div class="row side-top">
            <SearchBox {...port} locale={locale} onSelect={select} />
            <LocalePicker
              value={locale}
              published={health.locales}
              onChange={(chosen) => go({ call: { ...link.call, locale: chosen } })}
            />
          </div>
          {failure && <FailureNotice failure={failure} onRetry={port.callAgain} />}
          {port.facts?.exchange?.isStored === true && <Notice text={words.offline} />}
          {isMissing && <Notice text={words.missing} />}
          <div ref={side} class="side-scroll" tabIndex={-1}>
            {selected && (
              <PlacePanel
                key={selected.id}
                place={selected}
                locale={locale}
                nearest={nearest}
                onSelect={select}
                answer={{ encoding: call.encoding, port }}
                onNear={(position) => showNear(position, null)}
                onClose={close}
              />
            )}
            {!selected && near && nearest && (
              <NearPanel
                position={near}
                nearest={nearest}
                locale={locale}
                onSelect={select}
                onClose={close}
              />
            )}
            {catalog && link.changes && (
              <ChangesPanel catalog={catalog} changes={changes} onSelect={select} onClose={close} />
            )}
            {!selected && !nearest && !(catalog && link.changes) && (
              <Overview
                catalog={catalog}
                published={health.counts}
                isCalling={isCalling}
                progress={port.progress}
                onSelect={select}
                onShowChanges={() => go({ ...NOWHERE, changes: true })}
              />
            )}
          </div>
        </div>
        <WorldMap
          catalog={catalog}
          locale={locale}
          isAwaited={catalog === undefined && isCalling && port.progress?.share !== 1}
          selected={selected}
          changed={(link.changes && changed) || undefined}
          near={onMap ?? undefined}
          view={link.view}
          onSelect={select}
          onSpot={(position) => showNear(position, shown.current)}
          onLook={(view, by) => {
            shown.current = view;
            if (by === "person") go({ view });
          }}
        />
        <CallPanel
          settings={call}
          facts={port.facts}
          isCalling={isCalling}
          hasFailed={failure !== undefined}
          onChange={(change) => go({ call: { ...link.call, ...change } })}
          onCall={port.callAgain}
        />
      </div>
    </SpeechContext>
  );
}

function Notice({ text }: { readonly text: string }) {
  return (
    <p class="notice" role="status">
      {text}
    </p>
  );
}

/** Names the place in the window's title. */
function useTitle(selected: Place | undefined, locale: string): void {
  useEffect(() => {
    document.title = selected ? `${nameIn(locale, selected)} · ${TITLE}` : TITLE;
  }, [selected, locale]);
}

/** Says in which language the page is, and turns it as that is read. */
function useLanguage(language: string): void {
  useEffect(() => {
    document.documentElement.lang = language;
    document.documentElement.dir = textDirection(language);
  }, [language]);
}

/** Keeps the explorer for offline use. It waits until all is shown, because it loads more files. */
function useOffline(isLoaded: boolean): void {
  useEffect(() => {
    if (!isLoaded) return;
    untilIdle()
      .then(keepForOffline)
      .catch((cause: unknown) => console.warn(cause));
  }, [isLoaded]);
}

/** A position for a link, to a hundred meters. */
function roundPosition({ lat, lon }: Position): Position {
  return { lat: Number(lat.toFixed(3)), lon: Number(lon.toFixed(3)) };
}
