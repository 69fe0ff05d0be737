import { scaleLinear, scaleUtc } from "d3-scale";
import { useMeasuredWidth } from "./use-measured-width.ts";

export interface ChartPoint {
  readonly id: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly value: number;
  readonly tone: "good" | "bad" | "busy" | "quiet";
  /** Description of the point. */
  readonly label: string;
}

interface Props {
  readonly title: string;
  /** In any order. */
  readonly points: readonly ChartPoint[];
  readonly format: (value: number) => string;
  /** Whether the axis begins at zero. */
  readonly fromZero: boolean;
  readonly onPick: (id: string) => void;
}

const HEIGHT = 132;
const MARGIN = { top: 10, right: 10, bottom: 22, left: 56 };
const HOUR_MS = 3_600_000;

/** Plots values over time as stems with dots. */
export function TimeChart({ title, points, format, fromZero, onPick }: Props) {
  const [ref, width] = useMeasuredWidth();
  const times = points.map(({ at }) => at);
  const values = points.map(({ value }) => value);
  const first = Math.min(...times);
  const last = Math.max(...times);
  const padding = first === last ? HOUR_MS : (last - first) * 0.03;
  const x = scaleUtc()
    .domain([first - padding, last + padding])
    .range([MARGIN.left, width - MARGIN.right]);
  const lowest = Math.min(...values);
  const highest = Math.max(...values);
  const y = scaleLinear()
    .domain([fromZero ? 0 : lowest, highest === lowest ? highest + 1 : highest])
    .nice(3)
    .range([HEIGHT - MARGIN.bottom, MARGIN.top]);
  // If all values are whole, the axis has no fractions.
  const yTicks = y
    .ticks(3)
    .filter((tick) => Number.isInteger(tick) || !values.every(Number.isInteger));
  const xTicks = x.ticks(Math.max(2, Math.floor(width / 110)));
  const xFormat = x.tickFormat();
  const floor = HEIGHT - MARGIN.bottom;
  return (
    <figure class="chart" ref={ref}>
      <figcaption>{title}</figcaption>
      {points.length === 0 && <p class="hint">Nothing to plot yet.</p>}
      {points.length > 0 && width > 0 && (
        <svg
          width={width}
          height={HEIGHT}
          role="img"
          aria-label={`${title}: ${points.length} runs, from ${format(lowest)} to ${format(highest)}`}
        >
          {yTicks.map((tick) => (
            <g key={`y${tick}`}>
              <line
                class="grid"
                x1={MARGIN.left}
                x2={width - MARGIN.right}
                y1={y(tick)}
                y2={y(tick)}
              />
              <text class="tick" x={MARGIN.left - 8} y={y(tick)} dy="0.32em" text-anchor="end">
                {format(tick)}
              </text>
            </g>
          ))}
          {xTicks.map((tick) => (
            <text
              key={`x${tick.getTime()}`}
              class="tick"
              x={x(tick)}
              y={HEIGHT - 5}
              text-anchor="middle"
            >
              {xFormat(tick)}
            </text>
          ))}
          {points.map(({ id, at, value, tone, label }) => (
            <g key={id} class={`mark mark-${tone}`} onClick={() => onPick(id)}>
              <title>{label}</title>
              {fromZero && <line x1={x(at)} x2={x(at)} y1={floor} y2={y(value)} />}
              <circle cx={x(at)} cy={y(value)} r={3.5} />
            </g>
          ))}
        </svg>
      )}
    </figure>
  );
}
