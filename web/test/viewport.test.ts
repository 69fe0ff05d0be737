import { describe, expect, it } from "vitest";
import { project } from "../explorer/map/mercator.ts";
import {
  fitView,
  linkOfView,
  scaleExtent,
  smallestScale,
  viewOfLink,
  worldView,
} from "../explorer/map/viewport.ts";

const SIZE = { width: 800, height: 500 };
const WORLD = worldView(SIZE);

function onScreen(points: readonly (readonly [number, number])[]) {
  const worldPoints = points.map(([lon, lat]) => project(lon, lat));
  const { x, y, k } = fitView(worldPoints, SIZE, WORLD);
  return {
    k,
    places: worldPoints.map((point) => ({ x: mod(point.x * k + x, k), y: point.y * k + y })),
  };
}

/** Of the worlds side by side, the copy nearest to the map. */
function mod(x: number, k: number): number {
  return ((x % k) + k) % k;
}

describe("the viewport of the map", () => {
  it.each([
    [
      "Switzerland",
      [
        [8.5, 47.4],
        [6.1, 46.2],
      ],
    ],
    [
      "across the date line",
      [
        [178.4, -18.1],
        [-171.8, -13.8],
        [179.2, -8.5],
      ],
    ],
    [
      "around the world",
      [
        [-122, 37],
        [2, 49],
        [139, 35],
      ],
    ],
  ] as const)("contains all points: %s", (_, points) => {
    for (const { x, y } of onScreen(points).places) {
      expect(x).toBeGreaterThanOrEqual(0);
      expect(x).toBeLessThanOrEqual(SIZE.width);
      expect(y).toBeGreaterThanOrEqual(0);
      expect(y).toBeLessThanOrEqual(SIZE.height);
    }
  });

  it("crosses the date line instead of going around the world", () => {
    const { k } = onScreen([
      [178.4, -18.1],
      [-171.8, -13.8],
    ]);
    expect(k).toBeGreaterThan(5 * smallestScale(SIZE));
  });

  it("shows what lies around the world as the world, wherever most of it is", () => {
    const around = [-170, -150, -120, -60, 0, 60, 120, 170].map((lon) => project(lon, 10));
    expect(fitView(around, SIZE, WORLD)).toEqual(WORLD);
  });

  it("keeps some distance from a single point", () => {
    const { k, places } = onScreen([[8.5, 47.4]]);
    expect(k).toBe(24 * smallestScale(SIZE));
    expect(places[0]?.x).toBeCloseTo(SIZE.width / 2);
    expect(places[0]?.y).toBeCloseTo(SIZE.height / 2);
  });

  it("comes so close to the airports of a city that they part", () => {
    const { places } = onScreen([
      [-73.78, 40.64], // JFK
      [-73.87, 40.78], // LGA
      [-74.17, 40.69], // EWR
    ]);
    const [jfk, lga] = places;
    expect(
      Math.hypot((jfk?.x ?? 0) - (lga?.x ?? 0), (jfk?.y ?? 0) - (lga?.y ?? 0)),
    ).toBeGreaterThan(100);
  });

  it("never shows anything beyond the poles", () => {
    for (const size of [SIZE, { width: 360, height: 700 }, { width: 1900, height: 300 }]) {
      const { y, k } = worldView(size);
      expect(y).toBeLessThanOrEqual(0);
      expect(y + k).toBeGreaterThanOrEqual(size.height);
      expect(k).toBeGreaterThanOrEqual(size.width);
    }
  });

  it("comes back from a link to within a pixel", () => {
    const view = fitView([project(8.5, 47.4)], SIZE, WORLD);
    const again = viewOfLink(linkOfView(view, SIZE) ?? { lat: 0, lon: 0, zoom: 0 }, SIZE);
    expect(again.k / view.k).toBeCloseTo(1, 2);
    const middle = ({ x, y, k }: typeof view) => [(400 - x) / k, (250 - y) / k] as const;
    for (const [axis, at] of middle(again).entries())
      expect(Math.abs(at - (middle(view)[axis] ?? 0)) * view.k).toBeLessThan(1);
  });

  it("stays out of the link if it is the whole world", () => {
    expect(linkOfView(WORLD, SIZE)).toBeNull();
  });

  it("comes no closer for a link than an airport is large", () => {
    const [, largest] = scaleExtent(SIZE);
    expect(viewOfLink({ lat: 47, lon: 8, zoom: 22 }, SIZE).k).toBe(largest);
  });
});
