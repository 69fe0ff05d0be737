import type { WorldPoint } from "./mercator.ts";

/** How far a cell reaches at most to each side, as a share of the world. */
const REACH = 0.05;

/**
 * Returns the corners of what is nearer to a point than to any other one, in order (a Voronoi cell).
 * Across the date line, they have an x below 0 or above 1.
 */
export function cellOf(point: WorldPoint, others: readonly WorldPoint[]): WorldPoint[] {
  const { x, y } = point;
  const square = [
    { x: x - REACH, y: y - REACH },
    { x: x + REACH, y: y - REACH },
    { x: x + REACH, y: y + REACH },
    { x: x - REACH, y: y + REACH },
  ];
  return others
    .map((other) => ({ x: other.x - x - Math.round(other.x - x), y: other.y - y }))
    .filter((way) => Math.abs(way.x) < 2 * REACH && Math.abs(way.y) < 2 * REACH)
    .reduce((corners, way) => cutHalfway(corners, { point, way }), square);
}

interface Cut {
  readonly point: WorldPoint;
  /** From the point to another one. */
  readonly way: WorldPoint;
}

/** Clips a convex area at the middle between two points (Sutherland and Hodgman). */
function cutHalfway(corners: readonly WorldPoint[], { point, way }: Cut): WorldPoint[] {
  const half = (way.x ** 2 + way.y ** 2) / 2;
  const beyond = ({ x, y }: WorldPoint) => (x - point.x) * way.x + (y - point.y) * way.y - half;
  return corners.flatMap((corner, index) => {
    const next = corners[(index + 1) % corners.length] ?? corner;
    const [here, there] = [beyond(corner), beyond(next)];
    const share = here / (here - there);
    const cut = {
      x: corner.x + share * (next.x - corner.x),
      y: corner.y + share * (next.y - corner.y),
    };
    return [...(here <= 0 ? [corner] : []), ...(here * there < 0 ? [cut] : [])];
  });
}
