import type { MapView } from "../permalink.ts";
import { project, unproject, type WorldPoint } from "./mercator.ts";

/** Size of the map on the page, in CSS pixels. */
export interface MapSize {
  readonly width: number;
  readonly height: number;
}

/** The view of the map: screen = world × k + (x, y). The world repeats in x. */
export interface View {
  readonly x: number;
  readonly y: number;
  /** Width of one world in pixels. */
  readonly k: number;
}

/** Visible latitudes of the world: those with airports. */
const TOP = project(0, 83).y;
const BOTTOM = project(0, -66).y;

/** Largest magnification: 40 m per pixel at the equator, so that the airports of a city part. */
const CLOSEST_ZOOM = 1_000_000;
const EQUATOR_METERS = 40_075_017;
/** Magnification of a single place, compared with the whole world. */
const PLACE_ZOOM = 24;
/** A selection longer than this share of a parallel is shown like the whole world. */
const AROUND_THE_WORLD = 0.75;
/** Width of the world at magnification 0 of a link. */
const LINK_WORLD_WIDTH = 256;
/** Share of the map that the shown points fill. */
const FILL = 0.72;

/** The smallest scale: one world fills the map in both directions. */
export function smallestScale({ width, height }: MapSize): number {
  return Math.max(width, height / (BOTTOM - TOP));
}

/** Smallest and largest scale for d3-zoom. */
export function scaleExtent(size: MapSize): [number, number] {
  return [smallestScale(size), CLOSEST_ZOOM];
}

/** Meters per pixel in the middle of the map. */
export function metersPerPixel({ k, y }: View, { height }: MapSize): number {
  const south = (height / 2 - y) / k;
  return EQUATOR_METERS / k / Math.cosh((0.5 - south) * 2 * Math.PI);
}

/** Keeps the poles out of the map. */
export function constrainView(view: View, { height }: MapSize): number {
  const highest = -TOP * view.k;
  const lowest = height - BOTTOM * view.k;
  return Math.max(lowest, Math.min(highest, view.y));
}

/** Returns the view of the whole world, centered on Europe and Africa. */
export function worldView(size: MapSize): View {
  const k = smallestScale(size);
  const view = { k, x: (size.width - k) / 2 - k * 0.03, y: size.height / 2 - project(0, 22).y * k };
  return { ...view, y: constrainView(view, size) };
}

/**
 * Returns a view of all points, across the date line if that is shorter. Chooses the copy of the
 * world nearest to the current view.
 */
export function fitView(points: readonly WorldPoint[], size: MapSize, now: View): View {
  const { west, span } = shortestArc(points.map(({ x }) => x));
  if (span > AROUND_THE_WORLD) return worldView(size);
  const ys = points.map(({ y }) => y);
  const north = Math.min(...ys);
  const height = Math.max(...ys) - north;
  const [smallest, largest] = scaleExtent(size);
  const wanted = Math.min((size.width * FILL) / span, (size.height * FILL) / height);
  const closest = span + height === 0 ? smallest * PLACE_ZOOM : largest;
  const k = Math.max(smallest, Math.min(closest, wanted));
  const lookingAt = (size.width / 2 - now.x) / now.k;
  const middle = west + span / 2;
  const x = middle + Math.round(lookingAt - middle);
  const view = { k, x: size.width / 2 - x * k, y: size.height / 2 - (north + height / 2) * k };
  return { ...view, y: constrainView(view, size) };
}

/** Returns the view that a link names. */
export function viewOfLink({ lat, lon, zoom }: MapView, size: MapSize): View {
  const [smallest, largest] = scaleExtent(size);
  const k = Math.max(smallest, Math.min(largest, LINK_WORLD_WIDTH * 2 ** zoom));
  const { x, y } = project(lon, lat);
  const view = { k, x: size.width / 2 - x * k, y: size.height / 2 - y * k };
  return { ...view, y: constrainView(view, size) };
}

/** Returns a view for a link, as exact as a pixel; null for the whole world. */
export function linkOfView({ x, y, k }: View, size: MapSize): MapView | null {
  if (k <= smallestScale(size) * 1.001) return null;
  const { lat, lon } = unproject({ x: (size.width / 2 - x) / k, y: (size.height / 2 - y) / k });
  const rounded = (value: number, digits: number) => Number(value.toFixed(digits));
  const zoom = rounded(Math.log2(k / LINK_WORLD_WIDTH), 2);
  return { lat: rounded(lat, 4), lon: rounded(lon, 4), zoom };
}

/** Returns the shortest arc of longitude with all these points, as its western end and length. */
function shortestArc(xs: readonly number[]): { readonly west: number; readonly span: number } {
  const sorted = xs.toSorted((a, b) => a - b);
  const first = sorted[0] ?? 0.5;
  const last = sorted.at(-1) ?? 0.5;
  let west = first;
  let gap = first + 1 - last;
  for (const [index, x] of sorted.entries()) {
    const next = sorted[index + 1];
    if (next !== undefined && next - x > gap) {
      gap = next - x;
      west = next;
    }
  }
  return { west, span: 1 - gap };
}
