import type { MapScene } from "./map-scene.ts";
import type { WorldPoint } from "./mercator.ts";
import type { MapSize, View } from "./viewport.ts";

/** Colors of the map, from the page. */
export type MapColors = Readonly<Record<(typeof COLOR_NAMES)[number], string>>;

/** A rectangle on the canvas, in CSS pixels. */
export interface Box {
  readonly left: number;
  readonly top: number;
  readonly right: number;
  readonly bottom: number;
}

export interface Frame {
  readonly context: CanvasRenderingContext2D;
  readonly size: MapSize;
  readonly view: View;
  readonly scene: MapScene;
  readonly colors: MapColors;
  /** Canvas pixels per CSS pixel. */
  readonly pixelRatio: number;
  /** How many times as large as usual somebody has made the text. */
  readonly textScale: number;
  /** What lies over the canvas. */
  readonly covered: readonly Box[];
  /** How many times as large as the whole world. */
  readonly zoom: number;
}

const COLOR_NAMES = [
  "sea",
  "river",
  "land",
  "land-selected",
  "border",
  "dot",
  "dot-faint",
  "selected",
  "removed",
  "ring",
  "label",
  "label-faint",
  "halo",
] as const;

/** Radii in pixels of airports by tier, at the whole world, where it is so wide or wider. */
const RADII = [1.9, 1.1, 0.9, 0.9] as const;
const USUAL_WIDTH = 1_000;
const RADIUS_MAX = 5;
/** Radius of the ring around the spot that the nearest airports are near to. */
export const SPOT_RADIUS = 6;

/** Two colors, in which no comma stands. */
const LIGHT_DARK = /^\s*light-dark\(([^,]+), ([^,]+)\)$/;

/** Reads the colors from the style sheet, which has each as `light-dark(<light>, <dark>)`. */
export function readMapColors(element: Element): MapColors {
  const style = getComputedStyle(element);
  const isDark = matchMedia("(prefers-color-scheme: dark)").matches;
  const colors = COLOR_NAMES.map((name) => {
    const [, light, dark] = LIGHT_DARK.exec(style.getPropertyValue(`--map-${name}`)) ?? [];
    return [name, (isDark ? dark : light) ?? ""];
  });
  return Object.fromEntries(colors) as MapColors; // has all names
}

/** Returns where a point is on the canvas; undefined if that is outside. */
export function placeOnCanvas({ x, y }: WorldPoint, { view, size }: Frame) {
  const left = x * view.k + view.x;
  const top = y * view.k + view.y;
  const isInside = left > -8 && left < size.width + 8 && top > -8 && top < size.height + 8;
  return isInside ? { left, top } : undefined;
}

/** Returns the radius of an airport, which grows with the map and with the magnification. */
export function radiusOf(tier: number, { zoom, view }: Pick<Frame, "zoom" | "view">): number {
  const onWorld = (RADII[tier] ?? 1) * Math.min(1, view.k / zoom / USUAL_WIDTH);
  return Math.min(RADIUS_MAX, onWorld * (1 + Math.log2(Math.max(1, zoom)) * 0.4));
}
