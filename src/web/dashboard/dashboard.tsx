import { useState } from "preact/hooks";
import type { Action } from "./action.ts";
import { ActionDialog } from "./action-dialog.tsx";
import { BACK_UP, PAUSE, QUEUE, RESUME } from "./actions.ts";
import { AlertsSection } from "./alerts-section.tsx";
import type { RunPage } from "./answers.ts";
import { AuditSection } from "./audit-section.tsx";
import { BackupsSection } from "./backups-section.tsx";
import { Glance } from "./glance.tsx";
import { RunsSection } from "./runs-section.tsx";
import { keepSessionToken, sessionToken } from "./session-token.ts";
import { TokenForm } from "./token-form.tsx";
import { useHash } from "./use-hash.ts";
import { useNow } from "./use-now.ts";
import { type Polled, usePoll } from "./use-poll.ts";
import { VersionsSection } from "./versions-section.tsx";

const TABS = ["runs", "versions", "alerts", "backups", "audit"] as const;
const TAB_NAMES = {
  runs: "Runs",
  versions: "Versions",
  alerts: "Alerts",
  backups: "Backups",
  audit: "Audit",
} as const;

const LIVE_MS = 1_000;
const IDLE_MS = 5_000;

/** The page for operators. */
export function Dashboard() {
  const now = useNow();
  const [action, setAction] = useState<Action>();
  const [isLive, setLive] = useState(false);
  const runs = usePoll<RunPage>("/admin/ingest/runs?limit=50", isLive ? LIVE_MS : IDLE_MS);
  const isActive = runs.body?.runs.some(({ state }) => state === "running" || state === "queued");
  if (isActive !== undefined && isActive !== isLive) setLive(isActive);
  const { failure } = runs;
  const isSignedOut = failure?.kind === "unauthenticated";
  return (
    <div class="dashboard">
      <div class="dashboard-top">
        <h1>Dashboard</h1>
        {!isSignedOut && <ControlBar runs={runs} onAction={setAction} />}
      </div>
      <Glance now={now} />
      {isSignedOut ? (
        <TokenForm failure={failure} onToken={runs.refresh} />
      ) : (
        <Tabs runs={runs} now={now} onAction={setAction} />
      )}
      {action && (
        <ActionDialog
          key={action.path}
          action={action}
          onClose={() => setAction(undefined)}
          onAnswered={runs.refresh}
        />
      )}
    </div>
  );
}

interface PartProps {
  readonly runs: Polled<RunPage>;
  readonly onAction: (action: Action) => void;
}

/** The most frequent actions of a signed-in operator, and signing out. */
function ControlBar({ runs, onAction }: PartProps) {
  const signOut = () => {
    keepSessionToken(null);
    window.location.reload();
  };
  return (
    <div class="control-bar">
      {runs.body && <MainActions isPaused={runs.body.paused === true} onAction={onAction} />}
      {sessionToken() !== null && (
        <button type="button" class="link-button" onClick={signOut}>
          Sign out
        </button>
      )}
    </div>
  );
}

interface MainActionsProps {
  readonly isPaused: boolean;
  readonly onAction: (action: Action) => void;
}

function MainActions({ isPaused, onAction }: MainActionsProps) {
  return (
    <>
      <button
        type="button"
        class={`button ${isPaused ? "button-main" : ""}`}
        onClick={() => onAction(isPaused ? RESUME : PAUSE)}
      >
        {isPaused ? "Resume …" : "Pause …"}
      </button>
      <button type="button" class="button" onClick={() => onAction(QUEUE)}>
        Queue a run …
      </button>
      <button type="button" class="button" onClick={() => onAction(BACK_UP)}>
        Back up …
      </button>
    </>
  );
}

function Tabs({ runs, now, onAction }: PartProps & { readonly now: number }) {
  const tab = useHash(TABS);
  return (
    <>
      <nav class="tabs" aria-label="Sections">
        {TABS.map((name) => (
          <a key={name} href={`#${name}`} aria-current={name === tab ? "page" : undefined}>
            {TAB_NAMES[name]}
          </a>
        ))}
      </nav>
      {tab === "runs" && <RunsSection polled={runs} now={now} onAction={onAction} />}
      {tab === "versions" && <VersionsSection now={now} onAction={onAction} />}
      {tab === "alerts" && <AlertsSection now={now} onAction={onAction} />}
      {tab === "backups" && <BackupsSection now={now} onAction={onAction} />}
      {tab === "audit" && <AuditSection now={now} />}
    </>
  );
}
