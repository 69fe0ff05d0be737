import type { AirportPlace } from "../../../client/src/catalog.ts";
import { type Box, type Frame, placeOnCanvas, radiusOf, SPOT_RADIUS } from "./frame.ts";
import type { MapPoint } from "./map-scene.ts";
import type { WorldPoint } from "./mercator.ts";
import { type MapSize, metersPerPixel } from "./viewport.ts";

interface Style {
  readonly font: string;
  readonly color: string;
  readonly height: number;
}

const FAMILY = "ui-sans-serif, system-ui, sans-serif";
/** Sizes in pixels, where people have not chosen another size of text. */
const TEXTS = {
  country: { weight: 600, size: 12, height: 16 },
  city: { weight: 500, size: 11, height: 13 },
  code: { weight: 600, size: 11, height: 13 },
} as const;
/** From these magnifications on, cities and the codes of airports are named. */
const CITIES_ZOOM = 3;
const CODES_ZOOM = 12;
/** For so much of the map, in square pixels, one country is named, if its name fits. */
const COUNTRY_PIXELS = 10_000;
/** Of a land that is narrower, in pixels, nobody would see that the name is its own. */
const LAND_WIDTH_MIN = 8;
/** Between a name and the edge of the map, in pixels. */
const EDGE = 4;
/** So many names of each kind are tried in a frame. */
const TRIES_MAX = 90;
const SCALE_WIDTH_MAX = 110;
/** Radius of the point of a large airport, close up. */
const DOT_RADIUS = 4;

/**
 * Writes names where nothing else is written: the code of the selection, those of removed airports,
 * then countries, then the busiest airports with their cities.
 */
export function drawLabels(worlds: readonly Frame[]): void {
  const [first] = worlds;
  if (first === undefined) return;
  const taken: Box[] = [...first.covered, scaleBox(first), ...worlds.flatMap(spotBox)];
  const { highlighted, spot } = first.scene;
  const selected = highlighted.length === 1 || spot !== undefined ? highlighted : [];
  const places = new Set(selected.map(({ place }) => place));
  const labels = { taken, selected: places, dots: worlds.flatMap(dotsInSight) };
  const style = styleOf(first, "code", first.colors.label);
  for (const frame of worlds) for (const point of selected) writeCode(frame, point, labels, style);
  for (const frame of worlds) drawRemovedCodes(frame, labels);
  drawCountries(worlds, first, labels);
  for (const frame of worlds) drawCities(frame, labels);
  for (const frame of worlds) drawOtherCodes(frame, labels);
}

function styleOf(
  { textScale }: Omit<Frame, "zoom">,
  kind: keyof typeof TEXTS,
  color: string,
): Style {
  const { weight, size, height } = TEXTS[kind];
  return { font: `${weight} ${size * textScale}px ${FAMILY}`, color, height: height * textScale };
}

/** The areas that a new name has to avoid. */
interface Labels {
  /** Where it cannot be. */
  readonly taken: Box[];
  /** What is named already. */
  readonly selected: ReadonlySet<AirportPlace>;
  /** The points of the larger airports, which it covers only if it must. */
  readonly dots: readonly CanvasPoint[];
}

interface CanvasPoint {
  readonly left: number;
  readonly top: number;
}

function dotsInSight(frame: Frame): CanvasPoint[] {
  if (frame.zoom < CITIES_ZOOM) return [];
  return frame.scene.points.flatMap((point) => {
    const at = point.place.tier < 2 ? placeOnCanvas(point, frame) : undefined;
    return at ?? [];
  });
}

function drawRemovedCodes(frame: Frame, labels: Labels): void {
  const style = styleOf(frame, "code", frame.colors.removed);
  for (const { at, item } of inSight(frame, frame.scene.removed)) {
    const width = widthOf(frame, item.iata, style.font);
    const places = placesAround(at, { width, radius: 8, height: style.height });
    write(frame, { text: item.iata, style, places }, labels);
  }
}

/** Names countries, those with most traffic first, fewer on a smaller map. */
function drawCountries(worlds: readonly Frame[], first: Frame, labels: Labels): void {
  const { scene, size, view, colors } = first;
  const style = styleOf(first, "country", colors.label);
  const lands = new Map(scene.outline?.lands.map((land) => [land.codes[0], land]));
  let left = (size.width * size.height) / COUNTRY_PIXELS;
  for (const [code, text] of scene.countryNames) {
    const land = lands.get(code);
    if (land === undefined || land.width * view.k < LAND_WIDTH_MIN) continue;
    for (const frame of worlds) {
      const at = placeOnCanvas(land.label, frame);
      if (at !== undefined && left-- > 0) writeOnLand(frame, { text, style, at }, labels);
    }
  }
}

/** Writes a name over the middle of a land, or beside that where it would leave the map. */
function writeOnLand(
  frame: Frame,
  { text, style, at }: Pick<Text, "text" | "style"> & { readonly at: CanvasPoint },
  labels: Labels,
): void {
  const width = widthOf(frame, text, style.font);
  const rightmost = frame.size.width - width - EDGE;
  const left = Math.max(EDGE, Math.min(rightmost, at.left - width / 2));
  const places = [0, -style.height, style.height].map((by) => ({ left, top: at.top + by }));
  write(frame, { text, style, places }, labels);
}

function drawCities(frame: Frame, labels: Labels): void {
  const { scene, zoom, colors } = frame;
  if (zoom < CITIES_ZOOM) return;
  const style = styleOf(frame, "city", colors["label-faint"]);
  const codeStyle = styleOf(frame, "code", colors.dot);
  for (const { at, item } of inSight(frame, scene.cities)) {
    if (zoom >= CODES_ZOOM)
      for (const airport of item.airports)
        if (!labels.selected.has(airport.place)) writeCode(frame, airport, labels, codeStyle);
    const width = widthOf(frame, item.name, style.font);
    const places = placesAround(at, { width, radius: 8, height: style.height });
    write(frame, { text: item.name, style, places: places.toReversed() }, labels);
  }
}

/** Writes the codes of airports without scheduled service. */
function drawOtherCodes(frame: Frame, labels: Labels): void {
  const { scene, zoom, colors } = frame;
  if (zoom < CODES_ZOOM) return;
  const style = styleOf(frame, "code", colors["dot-faint"]);
  const others = scene.points.filter(
    ({ place }) => place.tier === 3 && !labels.selected.has(place),
  );
  for (const { item } of inSight(frame, others)) writeCode(frame, item, labels, style);
}

function writeCode(frame: Frame, point: MapPoint, labels: Labels, style: Style): void {
  const at = placeOnCanvas(point, frame);
  if (at === undefined) return;
  const text = point.place.iata;
  const width = widthOf(frame, text, style.font);
  // The selection has a ring.
  const gap = labels.selected.has(point.place) ? 9 : 3;
  const radius = radiusOf(point.place.tier, frame) + gap;
  write(
    frame,
    { text, style, places: placesAround(at, { width, radius, height: style.height }) },
    labels,
  );
}

/** Returns places for a text around a point: to its right, to its left, below and above. */
function placesAround(
  { left, top }: CanvasPoint,
  {
    width,
    radius,
    height,
  }: { readonly width: number; readonly radius: number; readonly height: number },
): CanvasPoint[] {
  const middle = left - width / 2;
  return [
    { left: left + radius, top },
    { left: left - radius - width, top },
    { left: middle, top: top + radius + height / 2 },
    { left: middle, top: top - radius - height / 2 },
  ];
}

/** Finds the first points in sight. */
function inSight<P extends WorldPoint>(frame: Frame, items: readonly P[]) {
  const found: { readonly item: P; readonly at: CanvasPoint }[] = [];
  for (const item of items) {
    const at = placeOnCanvas(item, frame);
    if (at !== undefined && found.push({ item, at }) === TRIES_MAX) break;
  }
  return found;
}

interface Text extends CanvasPoint {
  readonly text: string;
  readonly style: Style;
}

interface Label extends Pick<Text, "text" | "style"> {
  /** The left end and the middle of the text, the best place first. */
  readonly places: readonly CanvasPoint[];
}

/** Writes a text with a halo at the first place where it hides the fewest points, if it fits anywhere. */
function write(frame: Frame, { text, style, places }: Label, { taken, dots }: Labels): void {
  const width = widthOf(frame, text, style.font);
  const free = places
    .map((at) => ({ at, box: boxOf(at, width, style.height) }))
    .filter(
      ({ box }) => isInside(box, frame.size) && !taken.some((other) => isOverlapping(box, other)),
    )
    .map((place) => ({ ...place, hidden: dots.filter((dot) => isHidden(dot, place.box)).length }));
  const [best] = free.toSorted((a, b) => a.hidden - b.hidden);
  if (best === undefined) return;
  taken.push(best.box);
  writeWithHalo(frame, { text, ...best.at, style });
}

function boxOf({ left, top }: CanvasPoint, width: number, height: number): Box {
  return {
    left: left - 3,
    right: left + width + 3,
    top: top - height / 2,
    bottom: top + height / 2,
  };
}

function isInside({ left, top, right, bottom }: Box, { width, height }: MapSize): boolean {
  return left >= 0 && top >= 0 && right <= width && bottom <= height;
}

/** Whether a text is over a point, or touches it. */
function isHidden({ left, top }: CanvasPoint, box: Box): boolean {
  return (
    left > box.left - DOT_RADIUS &&
    left < box.right + DOT_RADIUS &&
    top > box.top - DOT_RADIUS &&
    top < box.bottom + DOT_RADIUS
  );
}

function writeWithHalo(
  { context, colors }: Omit<Frame, "zoom">,
  { text, left, top, style }: Text,
): void {
  context.font = style.font;
  context.textAlign = "left";
  context.textBaseline = "middle";
  context.lineJoin = "round";
  context.lineWidth = 3;
  context.strokeStyle = colors.halo;
  context.strokeText(text, left, top);
  context.fillStyle = style.color;
  context.fillText(text, left, top);
}

function isOverlapping(a: Box, b: Box): boolean {
  return a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
}

const widths = new Map<string, number>();

/** Measures a text once, because measuring takes longer than drawing. */
function widthOf({ context }: Frame, text: string, font: string): number {
  const key = `${font} ${text}`;
  const known = widths.get(key);
  if (known !== undefined) return known;
  context.font = font;
  const { width } = context.measureText(text);
  widths.set(key, width);
  return width;
}

/** Where the spot with its ring is. */
function spotBox(frame: Frame): Box[] {
  const at = frame.scene.spot && placeOnCanvas(frame.scene.spot, frame);
  if (at === undefined) return [];
  const { left, top } = at;
  const radius = SPOT_RADIUS + 2;
  return [{ left: left - radius, right: left + radius, top: top - radius, bottom: top + radius }];
}

/** Where the scale is. */
function scaleBox({ size: { height }, textScale }: Frame): Box {
  const top = height - 20 - TEXTS.city.height * textScale;
  return { left: 0, right: 14 + SCALE_WIDTH_MAX, top, bottom: height };
}

/** Draws how long a round number of kilometers is in the middle of the map. */
export function drawScale(frame: Omit<Frame, "zoom">): void {
  const { context, size, view, colors, scene } = frame;
  const meters = metersPerPixel(view, size);
  const largest = meters * SCALE_WIDTH_MAX;
  const power = 10 ** Math.floor(Math.log10(largest));
  const length = [5, 2, 1].find((step) => step * power <= largest) ?? 1;
  const width = (length * power) / meters;
  const [left, top] = [14, size.height - 14];
  context.beginPath();
  context.moveTo(left, top - 5);
  context.lineTo(left, top);
  context.lineTo(left + width, top);
  context.lineTo(left + width, top - 5);
  for (const [color, lineWidth] of [
    [colors.halo, 4],
    [colors.label, 1.5],
  ] as const) {
    context.strokeStyle = color;
    context.lineWidth = lineWidth;
    context.stroke();
  }
  const text = scene.speech.format("kilometer", (length * power) / 1000);
  const style = styleOf(frame, "city", colors.label);
  writeWithHalo(frame, { text, left: left + 4, top: top - 4 - style.height / 2, style });
}
