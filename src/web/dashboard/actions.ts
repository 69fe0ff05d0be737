import type { Action, ActionAnswer } from "./action.ts";
import type { Run } from "./answers.ts";

/** Hint below the field for the reason of a change. */
const NOTE_HINT = "Kept in the history, for those who look later.";

export const PAUSE: Action = {
  title: "Pause ingestion",
  explanation:
    "Nothing is dispatched or published until it is resumed. What is published goes on being served. A run under way stops at its next step.",
  verb: "Pause",
  isDangerous: false,
  path: "/admin/ingest/pause",
  fields: [
    { kind: "text", name: "reason", label: "Reason", hint: "Shown to whoever finds it paused." },
    {
      kind: "time",
      name: "until",
      label: "Until",
      hint: "Your local time; empty: until resumed, or as it is.",
    },
    {
      kind: "check",
      name: "cancel_running",
      label: "Cancel the run under way",
      hint: "Else it goes on after resume.",
    },
  ],
};

export const RESUME: Action = {
  title: "Resume ingestion",
  explanation:
    "Runs that wait are dispatched in their order. Missed cron runs are not made up for.",
  verb: "Resume",
  isDangerous: false,
  path: "/admin/ingest/resume",
  fields: [
    { kind: "text", name: "reason", label: "Reason", hint: NOTE_HINT },
    { kind: "check", name: "run_now", label: "Queue a run as well", hint: "" },
  ],
};

export const QUEUE: Action = {
  title: "Queue an ingest run",
  explanation:
    "Builds the catalog from its source and publishes it if it differs and the guards agree.",
  verb: "Queue",
  isDangerous: false,
  path: "/admin/ingest/queue",
  fields: [
    {
      kind: "choice",
      name: "mode",
      label: "Mode",
      choices: [
        ["", "Incremental: only what has changed"],
        ["full", "Full: fetch and store everything anew"],
        ["dry_run", "Dry run: the guards’ verdict and the diff only"],
      ],
    },
    {
      kind: "choice",
      name: "source",
      label: "Source",
      choices: [
        ["", "As configured"],
        ["embedded", "Embedded snapshot"],
        ["ourairports", "OurAirports"],
        ["dropped", "Files dropped into R2"],
      ],
    },
    {
      kind: "check",
      name: "force",
      label: "Force",
      hint: "Overrides the guards against shrinking, change and lost coverage.",
    },
    { kind: "text", name: "note", label: "Note", hint: NOTE_HINT },
  ],
};

export const BACK_UP: Action = {
  title: "Take a backup",
  explanation:
    "Writes every table, the coordinator’s state and the published catalog into R2, and verifies it.",
  verb: "Back up",
  isDangerous: false,
  path: "/admin/backup/run",
  fields: [
    { kind: "text", name: "note", label: "Note", hint: NOTE_HINT },
    { kind: "check", name: "pin", label: "Pin", hint: "Retention never deletes it." },
  ],
};

export const EVALUATE_ALERTS: Action = {
  title: "Evaluate the alert rules now",
  explanation: "Looks at every rule, and notifies as the five-minute cron would.",
  verb: "Evaluate",
  isDangerous: false,
  path: "/admin/alerts/run",
  fields: [],
  tell: tellEvaluation,
};

export const TEST_NOTIFICATION: Action = {
  title: "Send a test notification",
  explanation: "Sends one message to every configured receiver.",
  verb: "Send",
  isDangerous: false,
  path: "/admin/alerts/test",
  fields: [],
  tell: tellReceipts,
};

function tellEvaluation({ run }: ActionAnswer): string {
  if (run === undefined) return "The rules were evaluated.";
  const { rules_total: total, firing, pending, nodata, notified } = run;
  return `${total} rules evaluated: ${firing} firing, ${pending} pending, ${nodata} without data. ${notified} notifications delivered.`;
}

function tellReceipts({ receipts = [] }: ActionAnswer): string {
  const lines = receipts.map(({ target, delivered, error }) =>
    delivered ? `${target}: delivered.` : `${target}: not delivered (${error ?? "unknown"}).`,
  );
  return lines.join(" ");
}

/** Guards that an operator can override. */
const OVERRIDABLE = ["guard_shrink", "guard_change", "guard_coverage"];

/** Whether only guards that `force` overrides have refused a run. */
export function mayApprove({ state, error, guards }: Run): boolean {
  const isRefused = state === "failed" && error?.stage === "guard" && guards.length > 0;
  return isRefused && guards.every(({ guard }) => OVERRIDABLE.includes(guard));
}

/** Publishes a refused candidate from the files that its run fetched. */
export function approve({ id, mode }: Run): Action {
  return {
    title: "Approve the candidate",
    explanation:
      "Queues a run that builds from the upstream bytes this run has archived, and overrides the guards against shrinking, change and lost coverage. A backup is made before it publishes.",
    verb: "Approve",
    isDangerous: true,
    path: "/admin/ingest/queue",
    fields: [{ kind: "text", name: "note", label: "Note", hint: NOTE_HINT }],
    fixed: { candidate_of: id, mode, force: true },
  };
}

/** Cancels an unfinished run. */
export function cancelRun(id: string): Action {
  return {
    title: "Cancel the run",
    explanation: "A run that waits is cancelled at once, one under way before it publishes.",
    verb: "Cancel the run",
    isDangerous: true,
    path: `/admin/ingest/runs/${id}/cancel`,
    fields: [],
  };
}

/** Rolls back to an earlier version. */
export function rollBack(generation: number): Action {
  return {
    title: `Roll back to version ${generation}`,
    explanation:
      "Publishes its content again under a new, higher version. Clients see it within about a minute. The next ingest run publishes what it builds; pause ingestion to stay on this version.",
    verb: "Roll back",
    isDangerous: true,
    path: "/admin/catalog/rollback",
    fields: [],
    fixed: { generation },
  };
}

/** Verifies a backup. */
export function verifyBackup(id: string): Action {
  return {
    title: "Verify the backup",
    explanation: "Reads every part back, compares the hashes, and rebuilds the catalog from it.",
    verb: "Verify",
    isDangerous: false,
    path: `/admin/backup/${encodeURIComponent(id)}/verify`,
    fields: [],
  };
}

/** Pins or unpins a backup. */
export function pinBackup(id: string, isPinned: boolean): Action {
  const verb = isPinned ? "Unpin" : "Pin";
  return {
    title: `${verb} the backup`,
    explanation: isPinned
      ? "Retention deletes it when its time has come."
      : "Retention never deletes it while it is pinned.",
    verb,
    isDangerous: false,
    path: `/admin/backup/${encodeURIComponent(id)}/${isPinned ? "unpin" : "pin"}`,
    fields: [],
    tell: () => (isPinned ? "It is left to retention again." : "It is kept until it is unpinned."),
  };
}

/** Deletes a backup. */
export function deleteBackup(id: string): Action {
  return {
    title: "Delete the backup",
    explanation:
      "Nothing brings it back. The newest backup, the newest verified one, and one that is pinned or in use are never deleted.",
    verb: "Delete",
    isDangerous: true,
    method: "DELETE",
    path: `/admin/backup/${encodeURIComponent(id)}`,
    fields: [],
    tell: () => "It is deleted.",
  };
}

/** Restores a backup. */
export function restoreBackup(id: string): Action {
  return {
    title: "Restore the backup",
    explanation:
      "Verifies the backup, backs up the present, so that it can be undone, publishes the catalog that the backup holds, and adds what the history lacks. Ingestion is paused afterwards, so that the next run does not undo it; resume it when you are satisfied. The audit stays as it is.",
    verb: "Restore",
    isDangerous: true,
    path: `/admin/backup/${encodeURIComponent(id)}/restore`,
    fields: [],
  };
}
