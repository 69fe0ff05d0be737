import type { WorldPoint } from "./mercator.ts";

/** The outline of the world, as `data/build/world-outline.ts` makes it. */
export interface WorldOutline {
  /** Width of the world in grid units. */
  readonly size: number;
  readonly lands: readonly Land[];
}

/** Lakes and large rivers, as `data/build/world-outline.ts` makes them. */
export interface WorldWater {
  readonly size: number;
  readonly lakes: readonly Shape[];
  /** Their rings are open. */
  readonly rivers: readonly Shape[];
}

/** A shape. Its bounds are in worlds, its rings in grid units. */
export interface Shape {
  readonly west: number;
  readonly east: number;
  readonly north: number;
  readonly south: number;
  /** The first point of each ring, then the steps to the next ones. */
  readonly rings: readonly (readonly number[])[];
}

/** A land. Positions and widths are in worlds. */
interface Land extends Shape {
  /** Alpha-2 codes of its countries, the one with most airports first. */
  readonly codes: readonly string[];
  /** Middle of its largest part. */
  readonly label: WorldPoint;
  /** Width of its largest part. */
  readonly width: number;
}
