import { DECISIONS } from "../../src/schemas/held-rules.ts";
import { EFFECTS } from "../../src/schemas/effects.ts";
import { FORCE_EFFECT, OVERRIDDEN } from "../../src/schemas/overridable.ts";
import type { RunMode, SourceName } from "../../src/schemas/run-words.ts";
import { formatCount } from "../shared/format.ts";
import type { Action } from "./action.ts";
import type { Backup, HeldChange, Run, RunDetail, Version } from "./answers.ts";
import { ComparisonView } from "./diff-view.tsx";
import { DecisionPreview, GroupPreview } from "./decision-preview.tsx";
import { PauseEffect } from "./pause-effect.tsx";
import { Time } from "./time.tsx";

/** The field for the reason of a change. */
function noteField(hint = "Why. Shown in the audit.") {
  return { kind: "text", name: "note", label: "Note", hint } as const;
}

export const PAUSE: Action = {
  title: "Pause ingestion",
  explanation: EFFECTS.pause,
  verb: "Pause",
  path: "/admin/ingest/pause",
  fields: [
    noteField("Shown in “What happens next?” while it is paused."),
    {
      kind: "time",
      name: "until",
      label: "Until",
      hint: "In your local time. Without it, the pause ends when somebody resumes it.",
    },
    {
      kind: "check",
      name: "cancel_running",
      label: "Cancel the run under way",
      hint: "Otherwise it goes on when the pause ends.",
    },
  ],
};

export const RESUME: Action = {
  title: "Resume ingestion",
  explanation:
    "Waiting runs start in their order. Scheduled runs that were missed are not repeated.",
  verb: "Resume",
  path: "/admin/ingest/resume",
  fields: [noteField(), { kind: "check", name: "run_now", label: "Queue a run as well", hint: "" }],
};

/** The first one is the default. */
const MODES: { readonly [M in "" | Exclude<RunMode, "incremental">]: string } = {
  "": "Incremental: fetch and store changes only",
  full: "Full: fetch and store everything again",
  dry_run: "Dry run: check the guards and compare, publish nothing",
};
const SOURCES: { readonly [S in SourceName]: string } = {
  embedded: "Embedded snapshot",
  ourairports: "OurAirports",
  dropped: "Files dropped into R2",
};

export const QUEUE: Action = {
  title: "Queue an ingest run",
  explanation:
    "Builds the catalog from its source. Publishes it if it differs and the guards accept it.",
  verb: "Queue",
  path: "/admin/ingest/queue",
  fields: [
    {
      kind: "choice",
      name: "mode",
      label: "Mode",
      choices: MODES,
    },
    {
      kind: "choice",
      name: "source",
      label: "Source",
      choices: { "": "As configured", ...SOURCES },
    },
    {
      kind: "date",
      name: "as_of",
      label: "Date of the data",
      hint: "Of files dropped into R2 only. Without it, the date in each file’s metadata counts.",
    },
    { kind: "check", name: "force", label: "Force", hint: FORCE_EFFECT },
    noteField("Shown in the run’s history."),
  ],
};

/** Queues another run like one that has ended. */
export function queueAgain({ mode, source, as_of, candidate_of }: RunDetail): Action {
  return {
    title: "Queue the run again",
    explanation: `Queues a run with the same mode (${MODES[mode === "incremental" ? "" : mode]}) and the same source (${source}), without force.`,
    verb: "Queue",
    path: "/admin/ingest/queue",
    fields: [noteField("Shown in the run’s history.")],
    fixed: {
      mode,
      ...(candidate_of === null
        ? { source, ...(as_of !== undefined && { as_of }) }
        : { candidate_of }),
    },
  };
}

export const BACK_UP: Action = {
  title: "Take a backup",
  explanation: EFFECTS.makeBackup,
  verb: "Back up",
  path: "/admin/backup/run",
  fields: [
    noteField("Shown in the list of backups."),
    { kind: "check", name: "pin", label: "Pin", hint: "Retention never deletes it." },
  ],
};

export const EVALUATE_ALERTS: Action = {
  title: "Evaluate the alert rules now",
  explanation: "Evaluates every rule and sends notifications, as the cron does.",
  verb: "Evaluate",
  path: "/admin/alerts/run",
  isEvaluation: true,
};

export const TEST_NOTIFICATION: Action = {
  title: "Send a test notification",
  explanation:
    "Sends the alert “test”, and its end, to every webhook. In Alertmanager it ends after five minutes.",
  verb: "Send",
  path: "/admin/alerts/test",
};

/** Whether only guards that `force` overrides have refused a run. */
export function mayApprove({ state, error, guards }: Run): boolean {
  const isRefused = state === "failed" && error?.stage === "guard" && guards.length > 0;
  return isRefused && guards.every(({ guard }) => OVERRIDDEN.includes(guard));
}

/** Publishes a refused candidate from the files that its run fetched. */
export function approve({ id, mode, guards }: Run): Action {
  const does =
    mode === "dry_run"
      ? "is a dry run too: it publishes nothing."
      : "publishes. No backup is made first; the version of before stays in the list of versions, and can be rolled back to.";
  return {
    title: "Approve the candidate",
    explanation: `Queues a run that builds from the files that this run has archived, and ${does} ${FORCE_EFFECT}`,
    preview: (
      <ul>
        {guards.map(({ message }) => (
          <li key={message}>{message}</li>
        ))}
      </ul>
    ),
    verb: "Approve",
    isDangerous: true,
    path: "/admin/ingest/queue",
    fields: [noteField("Why it is right. Shown in the run’s history.")],
    fixed: { candidate_of: id, mode, force: true },
  };
}

/** Cancels an unfinished run. */
export function cancelRun(id: string): Action {
  return {
    title: "Cancel the run",
    explanation:
      "A waiting run is cancelled at once, a running one before it publishes. To undo it, queue another run.",
    verb: "Cancel the run",
    isDangerous: true,
    path: `/admin/ingest/runs/${id}/cancel`,
    fields: [noteField("Why. Shown in the run’s history.")],
  };
}

/** Rolls back from the current version to an earlier one. */
export function rollBackTo({ generation }: Version, current: Version): Action {
  return {
    title: `Roll back to version ${generation}`,
    explanation: `Publishes its content again as a new, higher version. Clients see it within two minutes. To undo it, roll back to version ${current.generation}.`,
    preview: (
      <>
        <PauseEffect of="rollback" />
        <ComparisonView to={String(generation)} />
      </>
    ),
    verb: "Roll back",
    isDangerous: true,
    path: "/admin/catalog/rollback",
    fields: [noteField()],
    fixed: { generation, expected_generation: current.generation },
  };
}

/** Verifies a backup. */
export function verifyBackup(id: string): Action {
  return {
    title: "Verify the backup",
    explanation: EFFECTS.verifyBackup,
    verb: "Verify",
    path: `/admin/backup/${encodeURIComponent(id)}/verify`,
  };
}

/** Pins or unpins a backup. */
export function pinBackup(id: string, isPinned: boolean): Action {
  const verb = isPinned ? "Unpin" : "Pin";
  return {
    title: `${verb} the backup`,
    explanation: isPinned
      ? "Retention may delete it."
      : "Retention never deletes it while it is pinned.",
    verb,
    path: `/admin/backup/${encodeURIComponent(id)}/${isPinned ? "unpin" : "pin"}`,
  };
}

/** Deletes a backup. */
export function deleteBackup(backup: Backup): Action {
  const { id } = backup;
  return {
    title: "Delete the backup",
    explanation: "Deletes its files in R2. This cannot be undone.",
    preview: <BackupSummary backup={backup} />,
    verb: "Delete",
    isDangerous: true,
    method: "DELETE",
    path: `/admin/backup/${encodeURIComponent(id)}`,
    fields: [noteField()],
  };
}

/** Restores a backup. */
export function restoreBackup(backup: Backup): Action {
  const { id } = backup;
  return {
    title: "Restore the backup",
    explanation: EFFECTS.restoreBackup,
    preview: (
      <>
        <BackupSummary backup={backup} />
        <PauseEffect of="restore" />
        <ComparisonView to={id} />
      </>
    ),
    verb: "Restore",
    isDangerous: true,
    path: `/admin/backup/${encodeURIComponent(id)}/restore`,
    fields: [noteField()],
  };
}

function BackupSummary({ backup }: { readonly backup: Backup }) {
  const { id, generation, started_at: at, note, verified } = backup;
  return (
    <p>
      Backup <code>{id}</code> of {at === null ? "an unknown time" : <Time at={at} />}, with version{" "}
      {generation ?? "unknown"}, {verified.state}
      {note !== null && `: “${note}”`}
    </p>
  );
}

const HELD = {
  Approve: `${DECISIONS.approve} To undo that, roll back to the version before: from the next run on the change waits anew, and you can reject it.`,
  Reject: `${DECISIONS.reject} To undo it, approve the change.`,
};
type Verb = keyof typeof HELD;

/** Decides on a held change by upstream. */
export function decideHeld(verb: Verb, held: HeldChange): Action {
  const { id, iata, name, after } = held;
  const isApproval = verb === "Approve";
  const isRemoval = isApproval && after === null;
  return {
    title: isRemoval ? `Remove ${iata ?? name} from the catalog` : `${verb} the change`,
    explanation: HELD[verb],
    preview: <DecisionPreview held={held} isApproval={isApproval} />,
    verb: isRemoval ? "Remove" : verb,
    ...(isRemoval && { isDangerous: true }),
    path: `/admin/ingest/held/${encodeURIComponent(id)}/${verb.toLowerCase()}`,
    fields: [noteField()],
  };
}

/** Decides on all changes that wait because of a rule. */
export function decideAll(verb: Verb, group: { rule: string; total: number }): Action {
  const { rule, total } = group;
  const all = total === 1 ? "the one change" : `all ${formatCount(total)} changes`;
  const which =
    rule === "none" ? "that no rule marks" : `that the rule “${rule.replaceAll("_", " ")}” marks`;
  return {
    title: `${verb} ${all}`,
    explanation: `${HELD[verb]} It decides on ${all} ${which}, also on those that are not on the page.`,
    preview: <GroupPreview rule={rule} />,
    verb: `${verb} all`,
    isDangerous: true,
    path: `/admin/ingest/held/${verb.toLowerCase()}`,
    fields: [noteField()],
    fixed: { rule },
  };
}
