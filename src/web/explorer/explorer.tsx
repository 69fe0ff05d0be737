import { useEffect, useMemo, useRef } from "preact/hooks";
import { formatBytes } from "../shared/format.ts";
import { CallPanel } from "./call-panel.tsx";
import type { Place } from "../../../client/src/catalog.ts";
import { FailureNotice } from "./failure-notice.tsx";
import { LocalePicker } from "./locale-picker.tsx";
import { WorldMap } from "./map/world-map.tsx";
import { Overview } from "./overview.tsx";
import { PlacePanel } from "./place-panel.tsx";
import { findPlace, selectionOf } from "./places.ts";
import { SearchBox } from "./search-box.tsx";
import { textDirection } from "./text-direction.ts";
import { useCatalog } from "./use-catalog.ts";
import { usePermalink } from "./use-permalink.ts";
import type { Progress } from "./wire.ts";

const TITLE = "Locations at the Edge";

/** The explorer: a browser client of its own service. */
export function Explorer() {
  const [link, go] = usePermalink();
  const side = useRef<HTMLDivElement>(null);
  const { selection } = link;
  const call = { ...link.call, locale: link.call.locale || navigator.language };
  const { catalog, failure, isCalling, ...port } = useCatalog(call);
  const selected = useMemo(
    () => (catalog && selection ? findPlace(catalog, selection) : undefined),
    [catalog, selection?.kind, selection?.key],
  );
  const locale = catalog?.locale ?? call.locale;
  useEffect(() => {
    document.title = selected ? `${selected.name} · ${TITLE}` : TITLE;
    document.documentElement.dir = textDirection(locale);
  }, [selected, locale]);
  const select = (place: Place) => go({ selection: selectionOf(place) });
  const isMissing = catalog !== undefined && selection !== null && selected === undefined;

  return (
    <div class="explorer">
      <div class="side">
        <div class="row side-top">
          <SearchBox {...port} locale={locale} onSelect={select} />
          <LocalePicker
            value={locale}
            onChange={(chosen) => go({ call: { ...link.call, locale: chosen } })}
          />
        </div>
        {failure && <FailureNotice failure={failure} onRetry={port.callAgain} />}
        {isMissing && (
          <p class="notice" role="status">
            The catalog has no such {selection.kind}. Search for it instead.
          </p>
        )}
        <div ref={side} class="side-scroll" tabIndex={-1}>
          {catalog === undefined && isCalling && <Loading progress={port.progress} />}
          {catalog && selected && (
            <PlacePanel
              key={selected.id}
              place={selected}
              locale={locale}
              onSelect={select}
              onClose={() => {
                go({ selection: null });
                side.current?.focus({ preventScroll: true });
              }}
            />
          )}
          {catalog && !selected && <Overview catalog={catalog} onSelect={select} />}
        </div>
      </div>
      <WorldMap catalog={catalog} selected={selected} onSelect={select} />
      <CallPanel
        settings={call}
        facts={port.facts}
        isCalling={isCalling}
        hasFailed={failure !== undefined}
        onChange={(change) => go({ call: { ...link.call, ...change } })}
        onCall={port.callAgain}
      />
    </div>
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
