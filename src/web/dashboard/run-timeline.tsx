import { scaleUtc } from "d3-scale";
import { formatDuration, formatTime } from "../shared/format.ts";
import type { Run } from "./answers.ts";
import { runTone } from "./run-tone.ts";
import { useMeasuredWidth } from "./use-measured-width.ts";

interface Props {
  readonly runs: readonly Run[];
  readonly now: number;
  readonly onPick: (id: string) => void;
}

const LANE_HEIGHT = 24;
const LABEL_WIDTH = 76;
const AXIS_HEIGHT = 20;
const BAR_MIN_WIDTH = 4;

/** Shows runs over time: a lane per trigger, a bar per run. */
export function RunTimeline({ runs, now, onPick }: Props) {
  const [ref, width] = useMeasuredWidth();
  const triggers = [...new Set(runs.map(({ trigger }) => trigger))].toSorted();
  const begins = runs.map((run) => beginOf(run));
  const first = Math.min(...begins, now - 60_000);
  const x = scaleUtc()
    .domain([first - (now - first) * 0.02, now])
    .range([LABEL_WIDTH, width - 8]);
  const height = triggers.length * LANE_HEIGHT + AXIS_HEIGHT;
  const format = x.tickFormat();
  return (
    <figure class="chart" ref={ref}>
      <figcaption>Timeline (UTC)</figcaption>
      {width > 0 && runs.length > 0 && (
        <svg
          width={width}
          height={height}
          role="img"
          aria-label={`Timeline of ${runs.length} runs`}
        >
          {triggers.map((trigger, lane) => (
            <g key={trigger}>
              <text class="tick" x={0} y={(lane + 0.5) * LANE_HEIGHT} dy="0.32em">
                {trigger}
              </text>
              <line
                class="grid"
                x1={LABEL_WIDTH}
                x2={width - 8}
                y1={(lane + 0.5) * LANE_HEIGHT}
                y2={(lane + 0.5) * LANE_HEIGHT}
              />
            </g>
          ))}
          {runs.map((run) => (
            <g key={run.id} class={`mark mark-${runTone(run)}`} onClick={() => onPick(run.id)}>
              <title>{describe(run)}</title>
              <rect
                x={x(beginOf(run))}
                y={triggers.indexOf(run.trigger) * LANE_HEIGHT + 4}
                width={Math.max(BAR_MIN_WIDTH, x(endOf(run, now)) - x(beginOf(run)))}
                height={LANE_HEIGHT - 8}
                rx={2}
              />
            </g>
          ))}
          {x.ticks(Math.max(2, Math.floor(width / 110))).map((tick) => (
            <text key={tick.getTime()} class="tick" x={x(tick)} y={height - 4} text-anchor="middle">
              {format(tick)}
            </text>
          ))}
        </svg>
      )}
    </figure>
  );
}

function beginOf(run: Run): number {
  return Date.parse(run.started_at ?? run.queued_at);
}

function endOf(run: Run, now: number): number {
  if (run.finished_at !== null) return Date.parse(run.finished_at);
  return run.state === "running" ? now : beginOf(run);
}

/** Describes a run in one line. */
export function describe(run: Run): string {
  const took = run.duration_ms === null ? "" : ` in ${formatDuration(run.duration_ms)}`;
  return `${formatTime(run.queued_at)} ${run.trigger}: ${run.outcome ?? run.state}${took}`;
}
