import coarseUrl from "generated:world-110m.json";
import fineUrl from "generated:world-50m.json";
import waterUrl from "generated:world-water.json";
import type { Shape, WorldOutline, WorldWater } from "./outline.ts";

/** Loads parts of the world for the map. */
export const loadWorld = {
  coarse: (): Promise<WorldOutline> => loadPart(coarseUrl),
  fine: (): Promise<WorldOutline> => loadPart(fineUrl),
  water: (): Promise<WorldWater> => loadPart(waterUrl),
};

async function loadPart<T>(url: string): Promise<T> {
  const answer = await fetch(url);
  if (!answer.ok) throw new Error(`${url}: status ${answer.status}`);
  return answer.json();
}

const paths = new WeakMap<Shape, Path2D>();

/** Returns a shape in grid units, made when it is first drawn. */
export function pathOf(shape: Shape, ends: "closed" | "open"): Path2D {
  const known = paths.get(shape);
  if (known !== undefined) return known;
  const path = new Path2D();
  for (const ring of shape.rings) {
    let [x = 0, y = 0] = ring;
    path.moveTo(x, y);
    for (let index = 2; index < ring.length; index += 2) {
      x += ring[index] ?? 0;
      y += ring[index + 1] ?? 0;
      path.lineTo(x, y);
    }
    if (ends === "closed") path.closePath();
  }
  paths.set(shape, path);
  return path;
}
