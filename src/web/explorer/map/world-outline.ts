import { geoContains, geoMercator, geoPath, type GeoPermissibleObjects } from "d3-geo";
import type { FeatureCollection } from "geojson";
import { feature, mesh } from "topojson-client";
import type { GeometryCollection, Topology } from "topojson-specification";
import coarseUrl from "world-atlas/countries-110m.json";
import fineUrl from "world-atlas/countries-50m.json";

/** Outline of the world (Natural Earth, public domain) in coordinates of `project`. */
export interface WorldOutline {
  readonly lands: readonly Shape[];
  readonly borders: Path2D;
}

/** A country's shape with its bounding box. */
export interface Shape {
  readonly path: Path2D;
  readonly west: number;
  readonly east: number;
  readonly north: number;
  readonly south: number;
  /** Whether the shape contains a point in degrees. */
  readonly contains: (lon: number, lat: number) => boolean;
}

interface Atlas extends Topology {
  readonly objects: { readonly countries: GeometryCollection };
}

/** Scale of the paths, for numerical accuracy. */
export const OUTLINE_SIZE = 4096;

const projection = geoMercator()
  .scale(OUTLINE_SIZE / (2 * Math.PI))
  .translate([OUTLINE_SIZE / 2, OUTLINE_SIZE / 2])
  .precision(0.3);

/** Loads the coarse or the fine outline. */
export async function loadWorldOutline(detail: "coarse" | "fine"): Promise<WorldOutline> {
  const answer = await fetch(detail === "coarse" ? coarseUrl : fineUrl);
  if (!answer.ok) throw new Error(`the outline of the world: status ${answer.status}`);
  const atlas = (await answer.json()) as Atlas; // our own file
  const { countries } = atlas.objects;
  const { features }: FeatureCollection = feature(atlas, countries);
  return {
    lands: features.map(shapeOf),
    borders: pathOf(mesh(atlas, countries, (a, b) => a !== b)),
  };
}

function shapeOf(land: FeatureCollection["features"][number]): Shape {
  const [[west, north], [east, south]] = geoPath(projection).bounds(land);
  return {
    path: pathOf(land),
    west: west / OUTLINE_SIZE,
    east: east / OUTLINE_SIZE,
    north: north / OUTLINE_SIZE,
    south: south / OUTLINE_SIZE,
    contains: (lon, lat) => geoContains(land, [lon, lat]),
  };
}

function pathOf(shape: GeoPermissibleObjects): Path2D {
  return new Path2D(geoPath(projection)(shape) ?? "");
}
