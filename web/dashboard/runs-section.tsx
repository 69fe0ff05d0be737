import { useState } from "preact/hooks";
import { formatDuration } from "../../src/platform/durations.ts";
import { isHalted } from "../../src/schemas/run-words.ts";
import { formatCount, formatTime } from "../shared/format.ts";
import { Segmented } from "../shared/segmented.tsx";
import type { Action } from "./action.ts";
import { cancelRun } from "./actions.tsx";
import type { PauseState, Run, RunListPage } from "./answers.ts";
import { Section } from "./section.tsx";
import { StageTrack, workedMs } from "./stage-track.tsx";
import { StatusPill } from "./status-pill.tsx";
import { Table } from "./table.tsx";
import { Time } from "./time.tsx";
import { usePages } from "./use-poll.ts";

interface Props {
  readonly live: readonly Run[];
  readonly pause: PauseState | undefined;
  readonly onAction: (action: Action) => void;
}

const EVERY_MS = 5_000;
const FILTERS = {
  all: "All",
  succeeded: "Succeeded",
  failed: "Failed",
  skipped: "Skipped",
} as const satisfies { readonly [S in Run["state"] | "all"]?: string };

/** Shows the ingest runs: those in progress, then the history. */
export function RunsSection({ live, pause, onAction }: Props) {
  const [filter, setFilter] = useState<keyof typeof FILTERS>("all");
  const state = filter === "all" ? "" : `?state=${filter}`;
  // A change of what is in progress is news at once.
  const key = live.map(({ id, stage }) => `${id}${stage}`).join();
  const polled = usePages<RunListPage>(`/admin/ingest/runs${state}`, key === "" ? EVERY_MS : 1_000);
  const runs = polled.pages.flatMap((page) => page.runs);
  return (
    <Section
      title="Ingest runs"
      what="run history"
      polled={polled}
      actions={<Segmented legend="Show" choices={FILTERS} value={filter} onChange={setFilter} />}
    >
      {live.map((run) => (
        <StageTrack
          key={run.id}
          run={run}
          pause={pause}
          onCancel={() => onAction(cancelRun(run.id))}
        />
      ))}
      <Table
        label="Ingest runs"
        columns={COLUMNS}
        rows={runs.map((run) => runRow(run, pause?.paused === true))}
        advice="Show other runs, or queue one."
      />
    </Section>
  );
}

const COLUMNS = ["State", "Queued", "Started by", "Source", "Took", "Airports", "Version", "Cause"];

function runRow(run: Run, isPaused: boolean) {
  const { id, counts } = run;
  return {
    key: id,
    cells: [
      <a href={`#runs/${id}`}>
        <RunStatePill run={run} isHalted={isHalted(run, isPaused)} />
        <span class="visually-hidden">, queued {formatTime(run.queued_at)}</span>
      </a>,
      <Time at={run.queued_at} />,
      starterOf(run),
      `${run.source}${run.mode === "incremental" ? "" : `, ${run.mode.replaceAll("_", " ")}`}`,
      tookText(run),
      counts === null ? "–" : `${formatCount(counts.airports.kept)} (${changesOf(counts)})`,
      run.generation_after ?? "–",
      failureText(run),
    ],
  };
}

/** Says how a run was started, and by whom, unless that is the same. */
export function starterOf({ trigger, requested_by: by }: Run): string {
  return trigger === by ? trigger : `${trigger}, ${by}`;
}

interface PillProps {
  readonly run: Run;
  readonly isHalted: boolean;
}

export function RunStatePill({ run: { state, outcome }, isHalted: isHeldUp }: PillProps) {
  if (isHeldUp) return <StatusPill word="halted" />;
  return <StatusPill word={state === "succeeded" ? (outcome ?? state) : state} />;
}

/** How long an ended run has taken, without the pauses that held it. */
export function tookText(run: Run): string {
  if (run.duration_ms === null) return "–";
  return formatDuration(run.stage_ms === undefined ? run.duration_ms : workedMs(run));
}

/** Says in a line why a run did not publish. */
function failureText({ error, guards, skipped_reason: skipped, skip_count: count }: Run): string {
  if (skipped !== null)
    return `${skipped.replaceAll("_", " ")}${count > 1 ? `, ${count} times` : ""}`;
  return guards[0]?.message ?? error?.message ?? "";
}

/** Counts the airports that a run added, changed and removed. */
function changesOf({ airports }: NonNullable<Run["counts"]>): string {
  const { added, changed, removed } = airports;
  return `+${formatCount(added)} ~${formatCount(changed)} −${formatCount(removed)}`;
}
