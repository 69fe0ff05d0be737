import { useEffect, useRef, useState } from "preact/hooks";
import type { Action } from "./action.ts";
import { ActionDialog } from "./action-dialog.tsx";
import { BACK_UP, PAUSE, QUEUE, RESUME } from "./actions.tsx";
import { AlertsSection } from "./alerts-section.tsx";
import type { AnswersBody, Identity, RunListPage } from "./answers.ts";
import { AuditSection } from "./audit-section.tsx";
import { BackupsSection } from "./backups-section.tsx";
import { Glance } from "./glance.tsx";
import { HeldSection } from "./held-section.tsx";
import { RunPage as OneRun } from "./run-page.tsx";
import { RunsSection } from "./runs-section.tsx";
import { keepSessionToken, sessionToken } from "./session-token.ts";
import { Time } from "./time.tsx";
import { TokenForm } from "./token-form.tsx";
import { type Polled, usePoll } from "./use-poll.ts";
import { VersionsSection } from "./versions-section.tsx";

const TAB_NAMES = {
  runs: "Runs",
  held: "Held changes",
  versions: "Versions",
  alerts: "Alerts",
  backups: "Backups",
  audit: "Audit",
} as const;

const LIVE_MS = 1_000;
const IDLE_MS = 5_000;
const NEWEST_RUNS = "/admin/ingest/runs?limit=10";
const WHOAMI_EVERY_MS = 60_000;

/** The page for operators. */
export function Dashboard() {
  const [action, setAction] = useState<Action>();
  const [isLive, setLive] = useState(false);
  const [hasAccess, setAccess] = useState(false);
  // Whoever has no credential is not refused one: the browser would note each refusal as an error.
  const mayAsk = sessionToken() !== null || hasAccess;
  const newest = usePoll<RunListPage>(mayAsk ? NEWEST_RUNS : null, isLive ? LIVE_MS : IDLE_MS);
  const runs = newest.body?.runs ?? [];
  const live = runs.filter(({ state }) => state === "running" || state === "queued");
  if (newest.body !== undefined && live.length > 0 !== isLive) setLive(!isLive);
  const { body, failure } = newest;
  const isSignedOut = !mayAsk || failure?.kind === "unauthenticated";
  const isKnown = isSignedOut || body !== undefined || failure !== undefined;
  const form = useRef(false);
  // While a token is tried, the form stays.
  const hasForm = isSignedOut || (!isKnown && form.current);
  form.current = hasForm;
  const path = body && !isSignedOut ? "/admin/monitor/status" : "/dashboard/summary";
  const answers = usePoll<AnswersBody>(isKnown || hasForm ? path : null, IDLE_MS);
  if (answers.body?.access === true && !hasAccess) setAccess(true);
  return (
    <div class="dashboard stack">
      <div class="row row-spread">
        <h1>
          Dashboard <span class="pill">{window.location.host}</span>
        </h1>
        {!hasForm && <ControlBar runs={newest} onAction={setAction} />}
      </div>
      <Glance polled={answers} />
      {hasForm ? (
        <TokenForm failure={failure} />
      ) : (
        isKnown && <Tabs live={live} onAction={setAction} />
      )}
      {action && (
        <ActionDialog key={action.path} action={action} onClose={() => setAction(undefined)} />
      )}
    </div>
  );
}

interface ControlProps {
  readonly runs: Polled<RunListPage>;
  readonly onAction: (action: Action) => void;
}

/** Who is signed in, the most frequent actions, and signing out. */
function ControlBar({ runs, onAction }: ControlProps) {
  const isPaused = runs.body?.paused === true;
  const { body: identity } = usePoll<Identity>(runs.body ? "/admin/whoami" : null, WHOAMI_EVERY_MS);
  const mayOperate = identity?.scopes.includes("operate") ?? true;
  const signOut = () => {
    keepSessionToken(null);
    window.location.reload();
  };
  return (
    <div class="row control-bar">
      {identity && <Who identity={identity} />}
      {runs.body && mayOperate && (
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
      )}
      {sessionToken() !== null && (
        <button type="button" class="link-button" onClick={signOut}>
          Sign out
        </button>
      )}
    </div>
  );
}

function Who({ identity: { id, scopes, expires_at: end } }: { readonly identity: Identity }) {
  return (
    <p class="hint">
      <b>{id}</b> {scopes.includes("operate") ? "may operate" : "may only read"}
      {end !== null && (
        <>
          , the token ends <Time at={end} />
        </>
      )}
    </p>
  );
}

interface TabsProps {
  readonly live: RunListPage["runs"];
  readonly onAction: (action: Action) => void;
}

function Tabs({ live, onAction }: TabsProps) {
  const { tab, id } = useRoute();
  const nav = useRef<HTMLElement>(null);
  useEffect(() => {
    // The link or form is gone that had the focus.
    if (document.activeElement !== document.body) return;
    nav.current?.querySelector<HTMLElement>("[aria-current]")?.focus({ preventScroll: true });
  }, [tab, id]);
  return (
    <>
      <nav ref={nav} class="row tabs" aria-label="Sections">
        {TABS.map((name) => (
          <a key={name} href={`#${name}`} aria-current={name === tab ? "page" : undefined}>
            {TAB_NAMES[name]}
          </a>
        ))}
      </nav>
      {tab === "runs" && id === undefined && <RunsSection live={live} onAction={onAction} />}
      {tab === "runs" && id !== undefined && <OneRun key={id} id={id} onAction={onAction} />}
      {tab === "held" && <HeldSection onAction={onAction} />}
      {tab === "versions" && <VersionsSection onAction={onAction} />}
      {tab === "alerts" && <AlertsSection onAction={onAction} />}
      {tab === "backups" && <BackupsSection onAction={onAction} />}
      {tab === "audit" && <AuditSection />}
    </>
  );
}

const TABS = ["runs", "held", "versions", "alerts", "backups", "audit"] as const;

/** Part of the dashboard that the address names: `#runs`, or `#runs/<id>` for one run. */
interface PageRoute {
  readonly tab: (typeof TABS)[number];
  readonly id: string | undefined;
}

/** Follows the fragment of the address. */
function useRoute(): PageRoute {
  const [route, setRoute] = useState(readRoute);
  useEffect(() => {
    const onChange = () => setRoute(readRoute());
    window.addEventListener("hashchange", onChange);
    return () => window.removeEventListener("hashchange", onChange);
  }, []);
  return route;
}

function readRoute(): PageRoute {
  const [name, id] = window.location.hash.slice(1).split("/");
  return { tab: TABS.find((tab) => tab === name) ?? "runs", id };
}
