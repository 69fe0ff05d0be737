import { select, type Selection } from "d3-selection";
import { interrupt } from "d3-transition";
import {
  zoom,
  type D3ZoomEvent,
  type ZoomBehavior,
  zoomIdentity,
  type ZoomTransform,
} from "d3-zoom";
import type { MapView, Position } from "../permalink.ts";
import { drawMap } from "./draw-map.ts";
import { type Box, type MapColors, readMapColors } from "./frame.ts";
import { EMPTY_SCENE, isShown, type MapPoint, type MapScene, pointAt } from "./map-scene.ts";
import { unproject, type WorldPoint } from "./mercator.ts";
import {
  constrainView,
  fitView,
  linkOfView,
  type MapSize,
  scaleExtent,
  smallestScale,
  type View,
  viewOfLink,
  worldView,
} from "./viewport.ts";

interface MapEvents {
  onHover(point: MapPoint | undefined, at: { readonly left: number; readonly top: number }): void;
  onSelect(point: MapPoint): void;
  /** Called for a click where no airport is. */
  onSpot(position: Position): void;
  /** Called when the map has come to rest; with null for the whole world. */
  onLook(view: MapView | null, by: "person" | "page"): void;
  /** Called when the magnification needs the fine outline. */
  onCloseLook(): void;
}

const FLIGHT_MS = 700;
const STEP_MS = 200;
/** Magnification from which the fine outline is needed. */
const CLOSE_LOOK_ZOOM = 5;
const PIXEL_RATIO_MAX = 2;

/** Draws the map into a canvas. Handles dragging, wheel and pinch. */
export class MapController {
  readonly #canvas: HTMLCanvasElement;
  readonly #events: MapEvents;
  readonly #selection: Selection<HTMLCanvasElement, unknown, null, undefined>;
  readonly #zoom: ZoomBehavior<HTMLCanvasElement, unknown>;
  readonly #ends = new AbortController();
  #size: MapSize = { width: 1, height: 1 };
  #view: View = zoomIdentity;
  #scene = EMPTY_SCENE;
  #colors: MapColors;
  #frame = 0;
  /** The controls over the canvas, as of the last change of its size. */
  #covered: readonly Box[] = [];
  /** The view to show once the size is known. */
  #first: MapView | null = null;
  #movedBy: "person" | "page" = "person";
  /** Where the page flies to, until it is there. */
  #target: View | undefined;

  constructor(canvas: HTMLCanvasElement, events: MapEvents) {
    this.#canvas = canvas;
    this.#events = events;
    this.#colors = readMapColors(canvas);
    this.#selection = select(canvas);
    this.#zoom = zoom<HTMLCanvasElement, unknown>()
      .duration(duration(STEP_MS))
      // One finger scrolls the page, two move the map.
      .filter((event: MouseEvent | TouchEvent) =>
        "touches" in event ? event.touches.length > 1 : !event.button,
      )
      .constrain((transform) => this.#constrain(transform))
      .on("zoom", ({ transform }: D3ZoomEvent<HTMLCanvasElement, unknown>) => this.#look(transform))
      .on("end", () => {
        this.#events.onLook(linkOfView(this.#view, this.#size), this.#movedBy);
        this.#movedBy = "person";
        this.#target = undefined;
      });
    this.#selection.call(this.#zoom);
    this.#listen();
  }

  /** Changes the scene. */
  show(change: Partial<MapScene>): void {
    this.#scene = { ...this.#scene, ...change };
    this.#draw();
  }

  /** Flies to a view of all these points. */
  fit(points: readonly WorldPoint[]): void {
    if (points.length > 0) this.#show(fitView(points, this.#size, this.#view), FLIGHT_MS);
  }

  /** Shows the view of a link. */
  lookAt(view: MapView): void {
    if (this.#size.width === 1) this.#first = view;
    else this.#show(viewOfLink(view, this.#size), 0);
  }

  /** Flies back to the whole world. */
  reset(): void {
    this.#flyTo(worldView(this.#size), FLIGHT_MS);
  }

  /** Zooms by a factor. */
  zoomBy(factor: number): void {
    this.#zoom.scaleBy(this.#transition(STEP_MS), factor);
  }

  /** Moves the map by CSS pixels. */
  panBy(dx: number, dy: number): void {
    const { k } = this.#view;
    this.#zoom.translateBy(this.#transition(STEP_MS), dx / k, dy / k);
  }

  #transition(ms: number) {
    return this.#selection.transition().duration(duration(ms));
  }

  /** Stops listening and drawing. */
  end(): void {
    this.#ends.abort();
    this.#selection.on(".zoom", null);
    cancelAnimationFrame(this.#frame);
  }

  #listen(): void {
    const { signal } = this.#ends;
    const resized = new ResizeObserver(() => this.#resize());
    resized.observe(this.#canvas);
    signal.addEventListener("abort", () => resized.disconnect());
    matchMedia("(prefers-color-scheme: dark)").addEventListener(
      "change",
      () => {
        this.#colors = readMapColors(this.#canvas);
        this.#draw();
      },
      { signal },
    );
    this.#canvas.addEventListener("pointermove", (event) => this.#hover(event), { signal });
    this.#canvas.addEventListener("pointerleave", () => this.#setHovered(undefined), { signal });
    this.#canvas.addEventListener(
      "click",
      (event) => {
        // The second click of a double one magnifies.
        if (event.defaultPrevented || event.detail > 1) return;
        const point = this.#pointUnder(event);
        if (point !== undefined) this.#events.onSelect(point);
        else this.#events.onSpot(unproject(this.#worldPointOf(event)));
      },
      { signal },
    );
  }

  #resize(): void {
    const { clientWidth, clientHeight } = this.#canvas;
    if (clientWidth === 0 || clientHeight === 0) return;
    const isFirst = this.#size.width === 1;
    const before = this.#size;
    this.#size = { width: clientWidth, height: clientHeight };
    const ratio = pixelRatio();
    this.#canvas.width = Math.round(clientWidth * ratio);
    this.#canvas.height = Math.round(clientHeight * ratio);
    this.#zoom.scaleExtent(scaleExtent(this.#size)).extent([
      [0, 0],
      [clientWidth, clientHeight],
    ]);
    this.#covered = coveredParts(this.#canvas);
    if (isFirst)
      return this.#show(
        this.#first ? viewOfLink(this.#first, this.#size) : worldView(this.#size),
        0,
      );
    // Text that the page shows during the flight can change the size of the map.
    const looked = this.#target ?? this.#view;
    const k = Math.max(looked.k, smallestScale(this.#size));
    const centerX = (before.width / 2 - looked.x) / looked.k;
    const centerY = (before.height / 2 - looked.y) / looked.k;
    const view = { k, x: clientWidth / 2 - centerX * k, y: clientHeight / 2 - centerY * k };
    this.#show(view, 0);
  }

  /** Flies where the page, not a person, wants. */
  #show(view: View, ms: number): void {
    interrupt(this.#canvas); // which ends an earlier flight
    this.#movedBy = "page";
    this.#target = view;
    this.#flyTo(view, ms);
  }

  #flyTo({ x, y, k }: View, ms: number): void {
    const transform = zoomIdentity.translate(x, y).scale(k);
    interrupt(this.#canvas);
    if (duration(ms) === 0) this.#zoom.transform(this.#selection, transform);
    else this.#zoom.transform(this.#transition(ms), transform);
  }

  #constrain(transform: ZoomTransform): ZoomTransform {
    const y = constrainView(transform, this.#size);
    return y === transform.y
      ? transform
      : zoomIdentity.translate(transform.x, y).scale(transform.k);
  }

  #look(view: View): void {
    this.#view = view;
    if (view.k > smallestScale(this.#size) * CLOSE_LOOK_ZOOM) this.#events.onCloseLook();
    this.#setHovered(undefined);
    this.#draw();
  }

  #hover(event: PointerEvent): void {
    if (event.pointerType === "mouse" && event.buttons === 0)
      this.#setHovered(this.#pointUnder(event));
  }

  #setHovered(point: MapPoint | undefined): void {
    if (point?.place === this.#scene.hovered?.place) return;
    this.#canvas.classList.toggle("is-over-point", point !== undefined);
    const { k, x, y } = this.#view;
    const world = point === undefined ? 0 : Math.floor((this.#size.width / 2 - x) / k);
    const lefts = [-1, 0, 1].map((copy) => ((point?.x ?? 0) + world + copy) * k + x);
    const left = lefts.find((at) => at >= 0 && at <= this.#size.width) ?? 0;
    this.#events.onHover(point, { left, top: (point?.y ?? 0) * k + y });
    this.show({ hovered: point });
  }

  #worldPointOf({ offsetX, offsetY }: MouseEvent): WorldPoint {
    const { k, x, y } = this.#view;
    return { x: (offsetX - x) / k, y: (offsetY - y) / k };
  }

  #pointUnder(event: MouseEvent): MapPoint | undefined {
    const { k } = this.#view;
    const magnification = k / smallestScale(this.#size);
    const shown = this.#scene.points.filter((point) => isShown(point, magnification));
    return pointAt(
      [...this.#scene.highlighted, ...shown.toReversed()],
      this.#worldPointOf(event),
      k,
    );
  }

  #draw(): void {
    if (this.#frame !== 0) return;
    this.#frame = requestAnimationFrame(() => {
      this.#frame = 0;
      const context = this.#canvas.getContext("2d", { alpha: false });
      if (context === null) return;
      drawMap({
        context,
        size: this.#size,
        view: this.#view,
        scene: this.#scene,
        colors: this.#colors,
        pixelRatio: pixelRatio(),
        textScale: textScale(),
        covered: this.#covered,
      });
    });
  }
}

/** The controls of the map. */
function coveredParts(canvas: HTMLCanvasElement): Box[] {
  const { left: x, top: y } = canvas.getBoundingClientRect();
  const parts = canvas.closest(".map")?.querySelectorAll(".map-buttons") ?? [];
  return [...parts].map((part) => {
    const { left, top, right, bottom } = part.getBoundingClientRect();
    return { left: left - x, top: top - y, right: right - x, bottom: bottom - y };
  });
}

function pixelRatio(): number {
  return Math.min(PIXEL_RATIO_MAX, window.devicePixelRatio);
}

/** Browsers have text of 16 pixels, unless people have chosen another size. */
function textScale(): number {
  return Number.parseFloat(getComputedStyle(document.documentElement).fontSize) / 16;
}

/** Whether people have asked their system for less motion. */
function duration(ms: number): number {
  return matchMedia("(prefers-reduced-motion: reduce)").matches ? 0 : ms;
}
