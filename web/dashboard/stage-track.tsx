import { durationOf } from "../../src/platform/time.ts";
import { isHalted, STAGES } from "../../src/schemas/run-words.ts";
import { formatDuration } from "../../src/platform/durations.ts";
import type { PauseState, Run } from "./answers.ts";
import { StatusPill } from "./status-pill.tsx";
import { Time, useNow } from "./time.tsx";

interface Props {
  readonly run: Run;
  readonly pause: PauseState | undefined;
  readonly onCancel: () => void;
}

/** Shows a run in progress, or one that waits. */
export function StageTrack({ run, pause, onCancel }: Props) {
  const now = useNow();
  const { started_at: startedAt } = run;
  const isHeldUp = isHalted(run, pause?.paused === true);
  const elapsed = startedAt === null ? 0 : durationOf(startedAt, now);
  return (
    <div class="panel stack track" data-run={run.id}>
      <div class="row track-top">
        <StatusPill word={isHeldUp ? "halted" : run.state} />
        <a href={`#runs/${run.id}`}>
          {run.mode === "dry_run" ? "dry run" : `${run.mode} run`} from {run.source}
        </a>
        <span>{startedAt !== null && formatDuration(isHeldUp ? workedMs(run) : elapsed)}</span>
        <button type="button" class="button" onClick={onCancel}>
          Cancel
        </button>
      </div>
      {isHeldUp && <Halt pause={pause} />}
      <Stages run={run} />
    </div>
  );
}

/** Says how long a pause holds a run. */
export function Halt({ pause }: Pick<Props, "pause">) {
  const end = pause?.until ?? null;
  return (
    <p class="notice notice-warn" role="status">
      Ingestion is paused: the run waits until{" "}
      {end === null ? (
        "somebody resumes it."
      ) : (
        <>
          the pause ends, <Time at={end} />.
        </>
      )}
    </p>
  );
}

/** How long the steps of a run have taken. */
export function workedMs({ stage_ms: took = {} }: Run): number {
  return Object.values(took).reduce((sum, ms) => sum + ms, 0);
}

/** The stages of a run, and how long each has taken: those done, and the one that it is in or failed in. */
export function Stages({ run }: { readonly run: Run }) {
  const { state, stage, stage_ms: took, progress, error } = run;
  const reached = STAGES.indexOf(error?.stage ?? stage ?? "fetch");
  // A run that changes nothing ends before the last stage.
  const last = state === "succeeded" ? reached + 1 : reached;
  const share = progress.total > 0 ? progress.done / progress.total : 0;
  const isRunning = state === "running";
  const classOf = (index: number) => {
    if (index < last) return "is-done";
    if (index > last || state === "queued" || state === "succeeded") return "";
    return state === "failed" ? "is-failed" : "is-current";
  };
  return (
    <ol class="stages" aria-label="Stages">
      {STAGES.map((name, index) => (
        <li
          key={name}
          class={`stage ${classOf(index)}`}
          aria-current={isRunning && index === last ? "step" : undefined}
        >
          <span class="stage-bar">
            {isRunning && index === last && <span style={{ width: `${100 * share}%` }} />}
          </span>
          {name}
          {isRunning && index === last && share > 0 && ` · ${progress.done} of ${progress.total}`}
          {took?.[name] !== undefined && <small>{formatDuration(took[name])}</small>}
          {state === "failed" && index === last && <span class="visually-hidden"> failed</span>}
        </li>
      ))}
    </ol>
  );
}
