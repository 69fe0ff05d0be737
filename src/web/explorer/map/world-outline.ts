import coarseUrl from "generated:world-110m.json";
import fineUrl from "generated:world-50m.json";
import type { Land, WorldOutline } from "./outline.ts";

/** Loads the coarse or the fine outline. */
export async function loadWorldOutline(detail: "coarse" | "fine"): Promise<WorldOutline> {
  const answer = await fetch(detail === "coarse" ? coarseUrl : fineUrl);
  if (!answer.ok) throw new Error(`the outline of the world: status ${answer.status}`);
  return answer.json();
}

const paths = new WeakMap<Land, Path2D>();

/** Returns a land's shape in grid units, made when it is first drawn. */
export function pathOf(land: Land): Path2D {
  const known = paths.get(land);
  if (known !== undefined) return known;
  const path = new Path2D();
  for (const ring of land.rings) {
    let [x = 0, y = 0] = ring;
    path.moveTo(x, y);
    for (let index = 2; index < ring.length; index += 2) {
      x += ring[index] ?? 0;
      y += ring[index + 1] ?? 0;
      path.lineTo(x, y);
    }
    path.closePath();
  }
  paths.set(land, path);
  return path;
}
