import { drawLabels, drawScale } from "./draw-labels.ts";
import { type Frame, placeOnCanvas, radiusOf, SPOT_RADIUS } from "./frame.ts";
import { isShown, type MapPoint, type MapScene } from "./map-scene.ts";
import type { Shape } from "./outline.ts";
import { smallestScale } from "./viewport.ts";
import { pathOf } from "./world-outline.ts";

const CROSS_RADIUS = 4;
/** Magnification from which lakes and rivers are drawn. */
const WATER_ZOOM = 4;

/** Draws one frame of the map. */
export function drawMap(whole: Omit<Frame, "zoom">): void {
  const { context, size, view, colors, pixelRatio } = whole;
  context.setTransform(pixelRatio, 0, 0, pixelRatio, 0, 0);
  context.fillStyle = colors.sea;
  context.fillRect(0, 0, size.width, size.height);
  const first = Math.floor(-view.x / view.k);
  const last = Math.floor((size.width - view.x) / view.k);
  const zoom = view.k / smallestScale(size);
  const worlds = Array.from({ length: last - first + 1 }, (_, index): Frame => {
    const x = view.x + (first + index) * view.k;
    return { ...whole, zoom, view: { ...view, x } };
  });
  for (const world of worlds) {
    drawLands(world);
    drawWater(world);
    drawAirports(world);
  }
  for (const world of worlds) drawRemoved(world);
  for (const world of worlds) drawSpot(world);
  drawLabels(worlds);
  drawScale(whole);
}

function drawLands(frame: Frame): void {
  const { context, scene, colors } = frame;
  const { outline, shades } = scene;
  if (outline === undefined) return;
  onGrid(frame, outline.size, (pixel) => {
    context.strokeStyle = colors.border;
    // Of one pixel of the screen at most, which is drawn twelve times as fast as a wider line.
    context.lineWidth = Math.min(0.7, 1 / frame.pixelRatio) * pixel;
    for (const land of shapesInSight(frame, outline.lands)) {
      const ofLand = shades.filter(({ code }) => land.codes.includes(code));
      const isWhole = ofLand.some(({ cells }) => cells === undefined);
      context.fillStyle = isWhole ? colors["land-selected"] : colors.land;
      context.fill(pathOf(land, "closed"));
      const cells = isWhole ? [] : ofLand.flatMap((shade) => shade.cells ?? []);
      if (cells.length > 0) shadePart(frame, { land, size: outline.size, cells });
      context.stroke(pathOf(land, "closed"));
    }
  });
}

interface Part {
  readonly land: Shape;
  /** Of the world, in grid units. */
  readonly size: number;
  readonly cells: NonNullable<MapScene["shades"][number]["cells"]>;
}

/** Shades a part of a land; on the grid. */
function shadePart({ context, colors }: Frame, { land, size, cells }: Part): void {
  context.save();
  context.clip(pathOf(land, "closed"));
  context.fillStyle = colors["land-selected"];
  context.beginPath();
  // A point beyond the date line is on the other side of the world.
  const isAcross = cells.flat().some(({ x }) => x < 0 || x > 1);
  for (const world of isAcross ? [-1, 0, 1] : [0])
    for (const [first, ...others] of cells) {
      if (first) context.moveTo((first.x + world) * size, first.y * size);
      for (const { x, y } of others) context.lineTo((x + world) * size, y * size);
    }
  context.fill();
  context.restore();
}

function drawWater(frame: Frame): void {
  const { context, scene, colors } = frame;
  const { water } = scene;
  if (water === undefined || frame.zoom < WATER_ZOOM) return;
  onGrid(frame, water.size, (pixel) => {
    context.fillStyle = colors.sea;
    context.strokeStyle = colors.river;
    context.lineWidth = pixel;
    for (const river of shapesInSight(frame, water.rivers)) context.stroke(pathOf(river, "open"));
    for (const lake of shapesInSight(frame, water.lakes)) {
      context.fill(pathOf(lake, "closed"));
      context.stroke(pathOf(lake, "closed"));
    }
  });
}

/** Draws in grid units; a CSS pixel has the length that is handed over. */
function onGrid(
  { context, view, pixelRatio }: Frame,
  size: number,
  draw: (pixel: number) => void,
): void {
  const scale = view.k / size;
  const [a, x, y] = [scale * pixelRatio, view.x * pixelRatio, view.y * pixelRatio];
  context.setTransform(a, 0, 0, a, x, y);
  context.lineJoin = "round";
  draw(1 / scale);
  context.setTransform(pixelRatio, 0, 0, pixelRatio, 0, 0);
}

function shapesInSight<S extends Shape>({ view, size }: Frame, shapes: readonly S[]): S[] {
  return shapes.filter(
    ({ west, east, north, south }) =>
      east * view.k + view.x > 0 &&
      west * view.k + view.x < size.width &&
      south * view.k + view.y > 0 &&
      north * view.k + view.y < size.height,
  );
}

function drawAirports(frame: Frame): void {
  const { scene, colors, zoom } = frame;
  const { highlighted, hovered } = scene;
  for (const tier of [3, 2, 1, 0] as const) {
    const points = scene.points.filter(
      (point) => point.place.tier === tier && isShown(point, zoom),
    );
    const color = tier === 3 ? colors["dot-faint"] : colors.dot;
    drawPoints(frame, points, { color, radius: radiusOf(tier, frame) });
  }
  for (const point of highlighted) {
    const radius = radiusOf(point.place.tier, frame) + 0.8;
    drawPoints(frame, [point], { color: colors.selected, radius });
  }
  const ringed = highlighted.length === 1 ? [...highlighted, hovered] : [hovered];
  for (const point of ringed) if (point !== undefined) drawRing(frame, point);
}

function drawPoints(
  frame: Frame,
  points: readonly MapPoint[],
  { color, radius }: { readonly color: string; readonly radius: number },
): void {
  const { context } = frame;
  context.fillStyle = color;
  context.beginPath();
  for (const point of points) {
    const at = placeOnCanvas(point, frame);
    if (at === undefined) continue;
    // Small points look the same as squares, which are drawn faster.
    if (radius < 1.7) context.rect(at.left - radius, at.top - radius, radius * 2, radius * 2);
    else {
      context.moveTo(at.left + radius, at.top);
      context.arc(at.left, at.top, radius, 0, 2 * Math.PI);
    }
  }
  context.fill();
}

/** Crosses out where airports were. */
function drawRemoved(frame: Frame): void {
  const { context, colors, scene } = frame;
  context.beginPath();
  for (const point of scene.removed) {
    const at = placeOnCanvas(point, frame);
    if (at === undefined) continue;
    for (const side of [1, -1]) {
      context.moveTo(at.left - CROSS_RADIUS, at.top - CROSS_RADIUS * side);
      context.lineTo(at.left + CROSS_RADIUS, at.top + CROSS_RADIUS * side);
    }
  }
  for (const [color, width] of [
    [colors.halo, 5],
    [colors.removed, 2.5],
  ] as const) {
    context.strokeStyle = color;
    context.lineWidth = width;
    context.stroke();
  }
}

/** Marks the spot, and leads from it to the nearest airports. */
function drawSpot(frame: Frame): void {
  const { context, colors, scene, view } = frame;
  const { spot, highlighted } = scene;
  if (spot === undefined) return;
  const [left, top] = [spot.x * view.k + view.x, spot.y * view.k + view.y];
  context.beginPath();
  for (const { x, y } of highlighted) {
    const across = x - spot.x - Math.round(x - spot.x); // over the date line if that is nearer
    context.moveTo(left, top);
    context.lineTo(left + across * view.k, y * view.k + view.y);
  }
  context.strokeStyle = colors.selected;
  context.lineWidth = 1;
  context.stroke();
  context.beginPath();
  context.arc(left, top, SPOT_RADIUS, 0, 2 * Math.PI);
  context.fillStyle = colors.halo;
  context.fill();
  context.lineWidth = 2.5;
  context.stroke();
}

function drawRing(frame: Frame, point: MapPoint): void {
  const at = placeOnCanvas(point, frame);
  if (at === undefined) return;
  const { context, colors } = frame;
  context.beginPath();
  context.arc(at.left, at.top, radiusOf(point.place.tier, frame) + 5, 0, 2 * Math.PI);
  context.strokeStyle = colors.ring;
  context.lineWidth = 2;
  context.stroke();
}
