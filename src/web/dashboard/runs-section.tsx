import { Fragment } from "preact";
import { useRef, useState } from "preact/hooks";
import { formatAge, formatCount, formatDuration } from "../shared/format.ts";
import { Segmented } from "../shared/segmented.tsx";
import type { Action } from "./action.ts";
import { cancelRun } from "./actions.ts";
import type { ListName, Run, RunPage } from "./answers.ts";
import { FailureLine } from "./failure-line.tsx";
import { RunDetails } from "./run-details.tsx";
import { describe, RunTimeline } from "./run-timeline.tsx";
import { runTone } from "./run-tone.ts";
import { Section } from "./section.tsx";
import { StageTrack } from "./stage-track.tsx";
import { StatusPill } from "./status-pill.tsx";
import { Table } from "./table.tsx";
import { type ChartPoint, TimeChart } from "./time-chart.tsx";
import { useOlderPages } from "./use-older-pages.ts";
import type { Polled } from "./use-poll.ts";

interface Props {
  readonly polled: Polled<RunPage>;
  readonly now: number;
  readonly onAction: (action: Action) => void;
}

const FILTERS = {
  all: "All",
  succeeded: "Succeeded",
  failed: "Failed",
  skipped: "Skipped",
} as const;
type Filter = keyof typeof FILTERS;

/** Shows the running and past ingest runs. */
export function RunsSection({ polled, now, onAction }: Props) {
  const [open, setOpen] = useState<string>();
  const [filter, setFilter] = useState<Filter>("all");
  const older = useOlderPages<RunPage>("/admin/ingest/runs", polled.body?.next_cursor ?? null);
  const { body, failure } = polled;
  const runs = useSeenRuns([...older.pages, ...(body ? [body] : [])]);
  const live = runs.filter(({ state }) => state === "running" || state === "queued");
  const shown = runs.filter(({ state }) => filter === "all" || state === filter);
  return (
    <Section
      title="Ingest runs"
      actions={
        <Segmented
          legend="Show"
          name="run-filter"
          choices={FILTERS}
          value={filter}
          onChange={setFilter}
        />
      }
    >
      <FailureLine failure={failure} what="run history" hasOlder={body !== undefined} />
      {live.map((run) => (
        <StageTrack key={run.id} run={run} now={now} onCancel={() => onAction(cancelRun(run.id))} />
      ))}
      {runs.length > 0 && <RunCharts runs={runs} now={now} onPick={setOpen} />}
      {body && (
        <Table label="Ingest runs" columns={COLUMNS}>
          {shown.map((run) => (
            <Fragment key={run.id}>
              <RunRow
                run={run}
                now={now}
                isOpen={run.id === open}
                onToggle={() => setOpen(run.id === open ? undefined : run.id)}
              />
              {run.id === open && (
                <tr class="details-row">
                  <td colSpan={COLUMNS.length}>
                    <RunDetails run={run} onAction={onAction} />
                  </td>
                </tr>
              )}
            </Fragment>
          ))}
        </Table>
      )}
      {body && shown.length === 0 && <p class="hint">No run to show.</p>}
      {older.hasMore && (
        <button type="button" class="button" onClick={older.load}>
          Older runs
        </button>
      )}
    </Section>
  );
}

/** Merges the runs of all pages, newest first, each in its latest state. */
function useSeenRuns(pages: readonly RunPage[]): Run[] {
  const seen = useRef(new Map<string, Run>());
  for (const run of pages.flatMap(({ runs }) => runs)) seen.current.set(run.id, run);
  // UUIDv7 ids ascend with time.
  return [...seen.current.values()].toSorted((a, b) => (a.id < b.id ? 1 : -1));
}

const COLUMNS = [
  "State",
  "Queued",
  "Trigger",
  "Mode",
  "Took",
  "Airports",
  "Changes",
  "Rejects",
  "Version",
  "",
];

interface RowProps {
  readonly run: Run;
  readonly now: number;
  readonly isOpen: boolean;
  readonly onToggle: () => void;
}

function RunRow({ run, now, isOpen, onToggle }: RowProps) {
  const { counts, duration_ms: took, generation_after: version } = run;
  return (
    <tr data-run={run.id}>
      <td>
        <StatusPill word={run.state === "succeeded" ? (run.outcome ?? run.state) : run.state} />
      </td>
      <td title={run.queued_at}>{formatAge(run.queued_at, now)}</td>
      <td>{run.trigger}</td>
      <td>{run.mode.replaceAll("_", " ")}</td>
      <td class="number">{took === null ? "–" : formatDuration(took)}</td>
      <td class="number">{counts === null ? "–" : formatCount(counts.airports.kept)}</td>
      <td class="number">{changesOf(run)}</td>
      <td class="number">{formatCount(run.rejects_total)}</td>
      <td class="number">{version ?? "–"}</td>
      <td>
        <button type="button" class="link-button" aria-expanded={isOpen} onClick={onToggle}>
          {isOpen ? "Less" : "More"}
          <span class="visually-hidden"> about the run {describe(run)}</span>
        </button>
      </td>
    </tr>
  );
}

/** Counts the airports that a run added, changed and removed. */
function changesOf({ counts }: Run): string {
  if (counts === null) return "–";
  const { added, changed, removed } = counts.airports;
  return `+${added} ~${changed} −${removed}`;
}

const LIST_NAMES = {
  airports: "Airports",
  cities: "Cities",
  countries: "Countries",
  regions: "Regions",
} as const;

function RunCharts({
  runs,
  now,
  onPick,
}: {
  readonly runs: readonly Run[];
  readonly now: number;
  readonly onPick: (id: string) => void;
}) {
  const [list, setList] = useState<ListName>("airports");
  return (
    <div class="charts">
      <div class="chart-wide">
        <RunTimeline runs={runs} now={now} onPick={onPick} />
      </div>
      <TimeChart
        title="Duration"
        points={runs.flatMap((run) => pointOf(run, run.duration_ms))}
        format={formatDuration}
        fromZero
        onPick={onPick}
      />
      <div class="chart-choice">
        <Segmented
          legend="Kept entities of"
          name="chart-list"
          choices={LIST_NAMES}
          value={list}
          onChange={setList}
        />
        <TimeChart
          title={`${LIST_NAMES[list]} kept`}
          points={runs.flatMap((run) => pointOf(run, run.counts?.[list].kept ?? null))}
          format={formatCount}
          fromZero={false}
          onPick={onPick}
        />
      </div>
    </div>
  );
}

function pointOf(run: Run, value: number | null): ChartPoint[] {
  if (value === null || run.started_at === null) return [];
  const at = Date.parse(run.started_at);
  return [{ id: run.id, at, value, tone: runTone(run), label: describe(run) }];
}
