import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { AirportPlace, Catalog, Place } from "../../../client/src/catalog.ts";
import type { MapView, Position } from "../permalink.ts";
import { airportsOf, nameIn } from "../places.ts";
import type { Speech } from "../speech.ts";
import { useSpeech } from "../use-speech.ts";
import { MapController } from "./map-controller.ts";
import { mapCatalog, type MapPlaces, type MapPoint, mapPoints, shadesOf } from "./map-scene.ts";
import { project } from "./mercator.ts";
import type { RemovedAirport } from "../use-changes.ts";
import { loadWorld } from "./world-outline.ts";

interface Props {
  readonly catalog: Catalog | undefined;
  /** Of the names. */
  readonly locale: string;
  /** Whether the answer with a first catalog is arriving, which the land does not slow down. */
  readonly isAwaited: boolean;
  readonly selected: Place | undefined;
  /** The changes of the last version, if they are to be shown. */
  readonly changed:
    | { readonly airports: readonly AirportPlace[]; readonly removed: readonly RemovedAirport[] }
    | undefined;
  /** A spot with the airports nearest to it. */
  readonly near: (Position & { readonly airports: readonly AirportPlace[] }) | undefined;
  /** Null for the view that shows what is selected. */
  readonly view: MapView | null;
  readonly onSelect: (place: AirportPlace) => void;
  readonly onSpot: (position: Position) => void;
  /** Called when the map has come to rest; with null for the whole world. */
  readonly onLook: (view: MapView | null, by: "person" | "page") => void;
}

interface Tip {
  readonly point: MapPoint;
  readonly left: number;
  readonly top: number;
}

const PAN_STEP = 80;
const ZOOM_STEP = 1.8;

/** An interactive map of all airports. */
export function WorldMap(props: Props) {
  const { catalog } = props;
  const speech = useSpeech();
  const { words, fill } = speech;
  const canvas = useRef<HTMLCanvasElement>(null);
  const controller = useRef<MapController>(undefined);
  const last = useRef(props);
  last.current = props;
  const lastLook = useRef(null as MapView | null);
  const [tip, setTip] = useState<Tip>();
  const [isClose, setClose] = useState(false);
  const land = isClose ? loadWorld.fine : loadWorld.coarse;
  const outline = useLoaded(props.isAwaited ? null : land);
  const water = useLoaded(isClose ? loadWorld.water : null);
  const places = usePlaces(catalog);
  const countryNames = useMemo(
    () => new Map(places.countries.map((place) => [place.code, nameIn(props.locale, place)])),
    [places, props.locale],
  );

  useEffect(() => {
    if (canvas.current === null) return undefined;
    const map = new MapController(canvas.current, {
      onHover: (point, at) => setTip(point && { point, ...at }),
      onSelect: ({ place }) => last.current.onSelect(place),
      onSpot: (position) => last.current.onSpot(position),
      onLook: (view, by) => {
        lastLook.current = view;
        last.current.onLook(view, by);
      },
      onCloseLook: () => setClose(true),
    });
    controller.current = map;
    return () => map.end();
  }, []);
  useEffect(
    () => controller.current?.show({ outline, water, ...places, countryNames, speech }),
    [outline, water, places, countryNames, speech],
  );
  useHighlight(controller, props);
  const { view } = props;
  useEffect(() => {
    // A view that the map itself has reported needs no move: the map shows it already.
    if (view !== null && view !== lastLook.current) controller.current?.lookAt(view);
  }, [view]);

  const onKeyDown = (event: KeyboardEvent) => {
    const move = KEYS[event.key];
    if (move === undefined || controller.current === undefined) return;
    move(controller.current);
    event.preventDefault();
  };
  const highlighted = highlightedName(props, words);
  return (
    <section class="map" aria-label={words.map}>
      <div
        class="map-stage"
        role="application"
        tabIndex={0}
        aria-label={fill(words.mapLabel, { count: places.points.length })}
        onKeyDown={onKeyDown}
      >
        <canvas
          ref={canvas}
          class="map-canvas"
          dir="ltr"
          data-points={places.points.length}
          data-land={outline !== undefined}
        />
        {tip && <MapTip tip={tip} locale={props.locale} />}
      </div>
      <div class="floating map-buttons">
        {BUTTONS.map(([word, sign, move]) => (
          <button
            key={word}
            type="button"
            class="icon-button map-button"
            aria-label={words[word]}
            title={words[word]}
            onClick={() => controller.current && move(controller.current)}
          >
            <span aria-hidden="true">{sign}</span>
          </button>
        ))}
      </div>
      <div class="map-legend" aria-hidden="true">
        {highlighted && <span class="legend-highlighted">{highlighted}</span>}
        {props.changed && <span class="legend-removed">{words.removed}</span>}
        <span class="legend-large">{words.large}</span>
        <span>{words.scheduled}</span>
        <span class="legend-other">{words.other}</span>
      </div>
    </section>
  );
}

/** Half of the width that a tip has at most, and, in pixels, the height that it has at least. */
const TIP_HALF = "8.125rem";
const TIP_HEIGHT = 70;

/** Names a point, above it where there is room, and always inside the map. */
function MapTip({ tip, locale }: { readonly tip: Tip; readonly locale: string }) {
  const { point, left, top } = tip;
  const { iata, name, city } = point.place;
  const middle = `clamp(${TIP_HALF}, ${left}px, 100% - ${TIP_HALF})`;
  const transform =
    top < TIP_HEIGHT ? "translate(-50%, 14px)" : "translate(-50%, -100%) translateY(-12px)";
  return (
    <div
      class="floating map-tip"
      style={{ left: middle, top: `${top}px`, transform }}
      aria-hidden="true"
    >
      <b>{iata}</b> {name}
      <small>
        {city.nameLocal}, {nameIn(locale, city.country)}
      </small>
    </div>
  );
}

const NO_PLACES: MapPlaces = { points: [], cities: [], countries: [] };

/** Returns the places of a catalog on the map; those of the last one until they are there. */
function usePlaces(catalog: Catalog | undefined): MapPlaces {
  const [places, setPlaces] = useState(NO_PLACES);
  useEffect(() => {
    let isWanted = catalog !== undefined;
    if (catalog) void mapCatalog(catalog).then((made) => isWanted && setPlaces(made));
    return () => {
      isWanted = false;
    };
  }, [catalog]);
  return places;
}

/** Loads a part of the world. Returns what was loaded before until it is there. */
function useLoaded<T>(load: (() => Promise<T>) | null): T | undefined {
  const [part, setPart] = useState<T>();
  useEffect(() => {
    let isWanted = true;
    load?.().then(
      (loaded) => isWanted && setPart(loaded),
      // The map is useful without an outline, and with only the coarse one.
      (cause: unknown) => console.warn(cause),
    );
    return () => {
      isWanted = false;
    };
  }, [load]);
  return part;
}

/** How the legend calls what is highlighted. */
function highlightedName(
  { selected, near, changed }: Props,
  words: Speech["words"],
): string | undefined {
  if (near) return words.near;
  if (selected) return words.selected;
  return changed && words.changed;
}

/** Shows what is selected. Flies there when the selection changes, unless a link names another view. */
function useHighlight(
  controller: { readonly current: MapController | undefined },
  { selected, near, changed, view }: Props,
): void {
  const highlighted = useMemo(
    () =>
      mapPoints(near?.airports ?? (selected ? airportsOf(selected) : (changed?.airports ?? []))),
    [selected, near, changed],
  );
  const removed = useMemo(
    () => changed?.removed.map(({ iata, lon, lat }) => ({ iata, ...project(lon, lat) })) ?? [],
    [changed],
  );
  const spot = near && project(near.lon, near.lat);
  useEffect(() => {
    controller.current?.show({ highlighted, shades: shadesOf(selected), removed, spot });
  }, [highlighted]);
  // A new locale of the same place does not move the map.
  useEffect(() => {
    if (view === null)
      controller.current?.fit([...highlighted, ...removed, ...(spot ? [spot] : [])]);
  }, [selected?.id, near?.lat, near?.lon, changed]);
}

type Move = (map: MapController) => void;

const zoomIn: Move = (map) => map.zoomBy(ZOOM_STEP);
const zoomOut: Move = (map) => map.zoomBy(1 / ZOOM_STEP);
const showWorld: Move = (map) => map.reset();

const BUTTONS: readonly ["zoomIn" | "zoomOut" | "wholeWorld", sign: string, move: Move][] = [
  ["zoomIn", "+", zoomIn],
  ["zoomOut", "−", zoomOut],
  ["wholeWorld", "⤢", showWorld],
];

/** The effects of keys on the map. */
const KEYS: { readonly [key: string]: Move } = {
  ArrowLeft: (map) => map.panBy(PAN_STEP, 0),
  ArrowRight: (map) => map.panBy(-PAN_STEP, 0),
  ArrowUp: (map) => map.panBy(0, PAN_STEP),
  ArrowDown: (map) => map.panBy(0, -PAN_STEP),
  "+": zoomIn,
  "=": zoomIn,
  "-": zoomOut,
  "0": showWorld,
};
