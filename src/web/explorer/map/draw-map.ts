import type { MapColors } from "./map-colors.ts";
import type { MapPoint, MapScene } from "./map-scene.ts";
import type { MapSize, View } from "./viewport.ts";
import { OUTLINE_SIZE, type Shape } from "./world-outline.ts";

interface Frame {
  readonly context: CanvasRenderingContext2D;
  readonly size: MapSize;
  readonly view: View;
  readonly scene: MapScene;
  readonly colors: MapColors;
  /** Canvas pixels per CSS pixel. */
  readonly pixelRatio: number;
}

/** Most visible points with codes beside them. */
const LABELS_MAX = 90;
/** Width of one world in pixels below which points have their minimum size. */
const COARSE_WORLD = 1100;
/** Radius from which points are round. Smaller points look the same as squares. */
const ROUND_FROM_RADIUS = 1.7;

/** Draws one frame of the map. */
export function drawMap(frame: Frame): void {
  const { context, size, view, colors, pixelRatio } = frame;
  context.setTransform(pixelRatio, 0, 0, pixelRatio, 0, 0);
  context.fillStyle = colors.sea;
  context.fillRect(0, 0, size.width, size.height);
  const first = Math.floor(-view.x / view.k);
  const last = Math.floor((size.width - view.x) / view.k);
  const worlds = Array.from({ length: last - first + 1 }, (_, index): Frame => {
    const x = view.x + (first + index) * view.k;
    return { ...frame, view: { ...view, x } };
  });
  for (const world of worlds) drawWorld(world);
  const labeled = labeledPoints(worlds);
  if (labeled !== undefined) for (const world of worlds) drawLabels(world, labeled);
}

/** Selects the points with codes: all visible ones if they are few, else the selection. */
function labeledPoints(worlds: readonly Frame[]): readonly MapPoint[] | undefined {
  const { points = [], highlighted = [] } = worlds[0]?.scene ?? {};
  const isFew = (candidates: readonly MapPoint[]) => {
    let count = 0;
    for (const world of worlds)
      for (const point of candidates) if (isVisible(point, world)) count++;
    return count > 0 && count <= LABELS_MAX;
  };
  return [points, highlighted].find(isFew);
}

function drawWorld(frame: Frame): void {
  drawLands(frame);
  const { scene, colors } = frame;
  const visible = scene.points.filter((point) => isVisible(point, frame));
  const isSelecting = scene.highlighted.length > 0;
  const radius = pointRadius(frame);
  drawPoints(frame, visible, { color: isSelecting ? colors.dotFaint : colors.dot, radius });
  const selected = scene.highlighted.filter((point) => isVisible(point, frame));
  drawPoints(frame, selected, { color: colors.selected, radius: radius + 1 });
  if (scene.highlighted.length === 1) for (const point of selected) drawRing(frame, point);
  const { hovered } = scene;
  if (hovered !== undefined && isVisible(hovered, frame)) drawRing(frame, hovered);
}

function drawLands({ context, view, size, scene, colors, pixelRatio }: Frame): void {
  if (scene.outline === undefined) return;
  const scale = view.k / OUTLINE_SIZE;
  context.setTransform(
    scale * pixelRatio,
    0,
    0,
    scale * pixelRatio,
    view.x * pixelRatio,
    view.y * pixelRatio,
  );
  const isInSight = ({ west, east, north, south }: Shape) =>
    east * view.k + view.x > 0 &&
    west * view.k + view.x < size.width &&
    south * view.k + view.y > 0 &&
    north * view.k + view.y < size.height;
  context.fillStyle = colors.land;
  for (const land of scene.outline.lands) if (isInSight(land)) context.fill(land.path);
  context.fillStyle = colors.landSelected;
  for (const land of scene.highlightedLands) if (isInSight(land)) context.fill(land.path);
  context.strokeStyle = colors.border;
  context.lineWidth = 0.7 / scale;
  context.stroke(scene.outline.borders);
  context.setTransform(pixelRatio, 0, 0, pixelRatio, 0, 0);
}

function isVisible({ x, y }: MapPoint, { view, size }: Frame): boolean {
  const left = x * view.k + view.x;
  const top = y * view.k + view.y;
  return left > -8 && left < size.width + 8 && top > -8 && top < size.height + 8;
}

/** Returns the radius of points, which grows with the magnification. */
function pointRadius({ view }: Frame): number {
  const zoom = view.k / COARSE_WORLD;
  return Math.min(4.5, 1.05 + Math.log2(Math.max(1, zoom)) * 0.55);
}

function drawPoints(
  { context, view }: Frame,
  points: readonly MapPoint[],
  { color, radius }: { readonly color: string; readonly radius: number },
): void {
  context.fillStyle = color;
  if (radius < ROUND_FROM_RADIUS) {
    const side = radius * 2;
    for (const { x, y } of points) {
      context.fillRect(x * view.k + view.x - radius, y * view.k + view.y - radius, side, side);
    }
    return;
  }
  context.beginPath();
  for (const { x, y } of points) {
    const left = x * view.k + view.x;
    const top = y * view.k + view.y;
    context.moveTo(left + radius, top);
    context.arc(left, top, radius, 0, 2 * Math.PI);
  }
  context.fill();
}

function drawRing(frame: Frame, { x, y }: MapPoint): void {
  const { context, view, colors } = frame;
  context.beginPath();
  context.arc(x * view.k + view.x, y * view.k + view.y, pointRadius(frame) + 5, 0, 2 * Math.PI);
  context.strokeStyle = colors.ring;
  context.lineWidth = 2;
  context.stroke();
}

interface Box {
  readonly left: number;
  readonly top: number;
}

/** Writes the codes beside their points and skips overlapping ones. */
function drawLabels(frame: Frame, points: readonly MapPoint[]): void {
  const { context, view, colors } = frame;
  context.font = "600 11px ui-sans-serif, system-ui, sans-serif";
  context.textBaseline = "middle";
  context.lineJoin = "round";
  context.strokeStyle = colors.labelHalo;
  context.fillStyle = colors.label;
  context.lineWidth = 3;
  const { highlighted } = frame.scene;
  const ringed = highlighted.length === 1 ? highlighted[0] : undefined;
  const taken: Box[] = [];
  for (const { x, y, place } of points.filter((point) => isVisible(point, frame))) {
    const left = x * view.k + view.x + pointRadius(frame) + (place === ringed?.place ? 9 : 4);
    const top = y * view.k + view.y;
    if (taken.some((box) => Math.abs(box.left - left) < 30 && Math.abs(box.top - top) < 13))
      continue;
    taken.push({ left, top });
    context.strokeText(place.airport.iata, left, top);
    context.fillText(place.airport.iata, left, top);
  }
}
