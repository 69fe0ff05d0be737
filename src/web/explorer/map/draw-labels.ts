import { type Frame, placeOnCanvas, radiusOf } from "./frame.ts";
import { type MapLabel, isShown } from "./map-scene.ts";
import { metersPerPixel } from "./viewport.ts";

interface Box {
  readonly left: number;
  readonly top: number;
  readonly right: number;
  readonly bottom: number;
}

interface Style {
  readonly font: string;
  readonly color: string;
  readonly height: number;
}

const FAMILY = "ui-sans-serif, system-ui, sans-serif";
const COUNTRY_FONT = `600 12px ${FAMILY}`;
const CITY_FONT = `500 11px ${FAMILY}`;
const CODE_FONT = `600 11px ${FAMILY}`;
/** From these magnifications on, cities and the codes of airports are named. */
const CITIES_ZOOM = 3;
const CODES_ZOOM = 12;
/** So many names of each kind are tried in a frame. */
const TRIES_MAX = 90;
const SCALE_WIDTH_MAX = 110;

/** Writes names: the selection's code first, then countries, cities and codes, where there is room. */
export function drawLabels(worlds: readonly Frame[]): void {
  const taken: Box[] = [];
  for (const frame of worlds) drawSelection(frame, taken);
  for (const frame of worlds) drawCountries(frame, taken);
  for (const frame of worlds) drawCities(frame, taken);
  for (const frame of worlds) drawCodes(frame, taken);
}

function drawSelection(frame: Frame, taken: Box[]): void {
  const { scene, zoom, colors } = frame;
  const [only] = scene.highlighted;
  if (only === undefined || scene.highlighted.length > 1) return;
  const at = placeOnCanvas(only, frame);
  const style = { font: CODE_FONT, color: colors.label, height: 13 };
  const left = (at?.left ?? 0) + radiusOf(only.place.tier, zoom) + 9;
  if (at) write(frame, { text: only.place.iata, left, top: at.top, style }, taken);
}

/** Names the countries that are wider than their names. */
function drawCountries(frame: Frame, taken: Box[]): void {
  const { scene, view, colors } = frame;
  const style = { font: COUNTRY_FONT, color: colors.label, height: 16 };
  const lands = scene.outline?.lands.toSorted((a, b) => b.width - a.width) ?? [];
  for (const { codes, label, width } of lands) {
    const text = scene.countryNames.get(codes[0] ?? "");
    const at = text && placeOnCanvas(label, frame);
    if (!text || !at) continue;
    const textWidth = widthOf(frame, text, style.font);
    if (textWidth > width * view.k * 1.15) continue;
    write(frame, { text, left: at.left - textWidth / 2, top: at.top, style }, taken);
  }
}

function drawCities(frame: Frame, taken: Box[]): void {
  const { scene, zoom, colors } = frame;
  if (zoom < CITIES_ZOOM) return;
  const style = { font: CITY_FONT, color: colors["label-faint"], height: 13 };
  for (const { at, label } of inSight(frame, scene.cities)) {
    const left = at.left - widthOf(frame, label.text, style.font) / 2;
    write(frame, { text: label.text, left, top: at.top - 13, style }, taken);
  }
}

function drawCodes(frame: Frame, taken: Box[]): void {
  const { scene, zoom, colors } = frame;
  if (zoom < CODES_ZOOM) return;
  const style = { font: CODE_FONT, color: colors.dot, height: 12 };
  const shown = scene.points.toReversed().filter((point) => isShown(point, zoom));
  const labels = shown.map((point) => ({ ...point, text: point.place.iata }));
  for (const { at, label } of inSight(frame, labels)) {
    const left = at.left + radiusOf(label.place.tier, zoom) + 3;
    write(frame, { text: label.text, left, top: at.top, style }, taken);
  }
}

/** Finds the first labels in sight. */
function inSight<L extends MapLabel>(frame: Frame, labels: readonly L[]) {
  const found: { readonly label: L; readonly at: { left: number; top: number } }[] = [];
  for (const label of labels) {
    const at = placeOnCanvas(label, frame);
    if (at !== undefined && found.push({ label, at }) === TRIES_MAX) break;
  }
  return found;
}

interface Text {
  readonly text: string;
  readonly left: number;
  /** Of its middle. */
  readonly top: number;
  readonly style: Style;
}

/** Writes a text with a halo where no other one is. */
function write(frame: Frame, { text, left, top, style }: Text, taken: Box[]): void {
  const half = style.height / 2;
  const right = left + widthOf(frame, text, style.font);
  const box = { left: left - 3, right: right + 3, top: top - half, bottom: top + half };
  if (taken.some((other) => isOverlapping(box, other))) return;
  taken.push(box);
  writeWithHalo(frame, { text, left, top, style });
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

/** Draws how long a round number of kilometers is in the middle of the map. */
export function drawScale(frame: Omit<Frame, "zoom">): void {
  const { context, size, view, colors } = frame;
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
  const text = `${(length * power) / 1000} km`;
  const style = { font: CITY_FONT, color: colors.label, height: 13 };
  writeWithHalo(frame, { text, left: left + 4, top: top - 11, style });
}
