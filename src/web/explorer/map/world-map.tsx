import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { formatCount } from "../../shared/format.ts";
import type { AirportPlace, CatalogIndex, CountryPlace, Place } from "../catalog-index.ts";
import { findCountryShapes } from "./country-shapes.ts";
import { selectionOf } from "../places.ts";
import { MapController } from "./map-controller.ts";
import { airportsOf, type MapPoint, mapPoints } from "./map-scene.ts";
import { loadWorldOutline, type Shape, type WorldOutline } from "./world-outline.ts";

interface Props {
  readonly catalog: CatalogIndex | undefined;
  readonly selected: Place | undefined;
  readonly onSelect: (place: AirportPlace) => void;
}

interface Tip {
  readonly point: MapPoint;
  readonly left: number;
  readonly top: number;
}

const PAN_STEP = 80;
const ZOOM_STEP = 1.8;

/** An interactive map of all airports. */
export function WorldMap({ catalog, selected, onSelect }: Props) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const controller = useRef<MapController>(undefined);
  const select = useRef(onSelect);
  select.current = onSelect;
  const [tip, setTip] = useState<Tip>();
  const [detail, setDetail] = useState<"coarse" | "fine">("coarse");
  const outline = useOutline(detail);
  const points = useMemo(() => mapPoints(catalog?.airports ?? []), [catalog]);

  useEffect(() => {
    if (canvas.current === null) return undefined;
    const map = new MapController(canvas.current, {
      onHover: (point, at) => setTip(point && { point, ...at }),
      onSelect: ({ place }) => select.current(place),
      onCloseLook: () => setDetail("fine"),
    });
    controller.current = map;
    return () => map.end();
  }, []);
  useEffect(() => controller.current?.show({ outline, points }), [outline, points]);
  useHighlight(controller, { catalog, selected, outline });

  const onKeyDown = (event: KeyboardEvent) => {
    if (controller.current !== undefined && moveByKey(controller.current, event.key))
      event.preventDefault();
  };
  const count = formatCount(points.length);
  return (
    <section class="map" aria-label="Map">
      <div
        class="map-stage"
        role="application"
        tabIndex={0}
        aria-label={`Map of ${count} airports. Arrow keys move it, plus and minus zoom, zero shows the whole world. Everything on it can be found by search as well.`}
        onKeyDown={onKeyDown}
      >
        <canvas ref={canvas} class="map-canvas" data-points={points.length} />
        {tip && <MapTip tip={tip} />}
      </div>
      <div class="map-buttons">
        <MapButton label="Zoom in" text="+" onClick={() => controller.current?.zoomBy(ZOOM_STEP)} />
        <MapButton
          label="Zoom out"
          text="−"
          onClick={() => controller.current?.zoomBy(1 / ZOOM_STEP)}
        />
        <MapButton label="Whole world" text="◯" onClick={() => controller.current?.reset()} />
      </div>
    </section>
  );
}

function MapButton({ label, text, onClick }: { label: string; text: string; onClick: () => void }) {
  return (
    <button type="button" class="map-button" aria-label={label} title={label} onClick={onClick}>
      <span aria-hidden="true">{text}</span>
    </button>
  );
}

function MapTip({ tip: { point, left, top } }: { tip: Tip }) {
  const { airport, city } = point.place;
  return (
    <div class="map-tip" style={{ left: `${left}px`, top: `${top}px` }} aria-hidden="true">
      <b>{airport.iata}</b> {airport.name}
      <span>
        {city.city.name}, {city.country.country.nameEng}
      </span>
    </div>
  );
}

/** Loads the outline. Returns the coarse one until the fine one is there. */
function useOutline(detail: "coarse" | "fine"): WorldOutline | undefined {
  const [outline, setOutline] = useState<WorldOutline>();
  useEffect(() => {
    let isWanted = true;
    const load = async () => {
      const loaded = await loadWorldOutline(detail);
      if (isWanted) setOutline(loaded);
    };
    // The map is useful without an outline, and with only the coarse one.
    load().catch((cause: unknown) => console.warn(cause));
    return () => {
      isWanted = false;
    };
  }, [detail]);
  return outline;
}

interface Highlight {
  readonly catalog: CatalogIndex | undefined;
  readonly selected: Place | undefined;
  readonly outline: WorldOutline | undefined;
}

/** Shows the selected airports and shapes. Flies there when the selection changes. */
function useHighlight(
  controller: { readonly current: MapController | undefined },
  { catalog, selected, outline }: Highlight,
): void {
  const shapes = useMemo(
    () => catalog && outline && findCountryShapes(catalog, outline),
    [catalog, outline],
  );
  const highlighted = useMemo(() => (selected ? mapPoints(airportsOf(selected)) : []), [selected]);
  useEffect(() => {
    const highlightedLands = selected && shapes ? landsOf(selected, shapes) : [];
    controller.current?.show({ highlighted, highlightedLands });
  }, [highlighted, shapes]);
  // A new locale of the same place does not move the map.
  const key = selected && JSON.stringify(selectionOf(selected));
  useEffect(() => controller.current?.fit(highlighted), [key]);
}

/** Returns the shapes of a selection: a country's, or those of the countries of a region. */
function landsOf(place: Place, shapes: ReadonlyMap<CountryPlace, Shape>): Shape[] {
  const countries = countriesOf(place);
  return countries.flatMap((country) => shapes.get(country) ?? []);
}

function countriesOf(place: Place): CountryPlace[] {
  if (place.kind === "country") return [place];
  if (place.kind !== "region") return [];
  const counts = new Map<CountryPlace, number>();
  for (const { city } of place.airports)
    counts.set(city.country, (counts.get(city.country) ?? 0) + 1);
  return [...counts]
    .filter(([country, count]) => count === country.airports.length)
    .map(([country]) => country);
}

/** Handles a key. Returns whether the map uses it. */
function moveByKey(map: MapController, key: string): boolean {
  switch (key) {
    case "ArrowLeft":
      map.panBy(PAN_STEP, 0);
      return true;
    case "ArrowRight":
      map.panBy(-PAN_STEP, 0);
      return true;
    case "ArrowUp":
      map.panBy(0, PAN_STEP);
      return true;
    case "ArrowDown":
      map.panBy(0, -PAN_STEP);
      return true;
    case "+":
    case "=":
      map.zoomBy(ZOOM_STEP);
      return true;
    case "-":
      map.zoomBy(1 / ZOOM_STEP);
      return true;
    case "0":
      map.reset();
      return true;
    default:
      return false;
  }
}
