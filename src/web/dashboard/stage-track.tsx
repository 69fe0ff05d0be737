import { formatDuration } from "../shared/format.ts";
import { type Run, STAGES } from "./answers.ts";
import { StatusPill } from "./status-pill.tsx";

interface Props {
  readonly run: Run;
  /** Milliseconds since the epoch. */
  readonly now: number;
  readonly onCancel: () => void;
}

/** Shows a running run: its finished stages, the current stage and the progress. */
export function StageTrack({ run, now, onCancel }: Props) {
  const { stage, progress, started_at: startedAt } = run;
  const current = stage === null ? -1 : STAGES.indexOf(stage);
  const elapsed = startedAt === null ? 0 : Math.max(0, now - Date.parse(startedAt));
  const counted = progress.total > 0 ? ` · ${progress.done} of ${progress.total}` : "";
  return (
    <div class="panel track" data-run={run.id}>
      <div class="track-top">
        <StatusPill word={run.state} />
        <span>
          {run.mode.replaceAll("_", " ")} run from {run.source}, {run.trigger}
          {startedAt !== null && `, for ${formatDuration(elapsed)}`}
        </span>
        <button type="button" class="button" onClick={onCancel}>
          Cancel
        </button>
      </div>
      <ol class="stages" aria-label="Stages">
        {STAGES.map((name, index) => (
          <li
            key={name}
            class={`stage ${stageClass(index, current)}`}
            aria-current={index === current ? "step" : undefined}
          >
            <span class="stage-bar">
              {index === current && progress.total > 0 && (
                <span style={{ width: `${(100 * progress.done) / progress.total}%` }} />
              )}
            </span>
            {name}
            {index === current && counted}
          </li>
        ))}
      </ol>
    </div>
  );
}

function stageClass(index: number, current: number): string {
  if (index < current) return "is-done";
  return index === current ? "is-current" : "";
}
