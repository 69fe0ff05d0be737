import { useEffect, useRef, useState } from "preact/hooks";
import { EVALUATION } from "../../src/schemas/rule-names.ts";
import { formatCount } from "../shared/format.ts";
import type { Action } from "./action.ts";
import { ActionDialog } from "./action-dialog.tsx";
import { BACK_UP, PAUSE, QUEUE, RESUME } from "./actions.tsx";
import { AlertsSection } from "./alerts-section.tsx";
import type { AnswersBody, Check, HeldPage, Identity, PauseState, RunListPage } from "./answers.ts";
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

const TABS = [
  ["runs", "Runs"],
  ["held", "Held changes"],
  ["versions", "Versions"],
  ["alerts", "Alerts"],
  ["backups", "Backups"],
  ["audit", "Audit"],
] as const;

const LIVE_MS = 1_000;
const IDLE_MS = 5_000;
const NEWEST_RUNS = "/admin/ingest/runs?limit=10";
const WHOAMI_EVERY_MS = 60_000;
const WAITING_CHANGES = "/admin/ingest/held?state=waiting&limit=1";
const WAITING_EVERY_MS = 10_000;

/** The page for operators. */
export function Dashboard() {
  const [action, setAction] = useState<Action>();
  const [isLive, setLive] = useState(false);
  const [hasAccess, setAccess] = useState(false);
  // Without a credential, sends no request that would be refused: the browser logs each refusal as an
  // error.
  const mayAsk = sessionToken() !== null || hasAccess;
  const identity = usePoll<Identity>(mayAsk ? "/admin/whoami" : null, WHOAMI_EVERY_MS);
  const newest = usePoll<RunListPage>(
    identity.body ? NEWEST_RUNS : null,
    isLive ? LIVE_MS : IDLE_MS,
  );
  const runs = newest.body?.runs ?? [];
  const live = runs.filter(({ state }) => state === "running" || state === "queued");
  if (newest.body !== undefined && live.length > 0 !== isLive) setLive(!isLive);
  const failure = [identity.failure, newest.failure].find(
    (candidate) => candidate?.kind === "unauthenticated",
  );
  const isRefused = failure !== undefined;
  const isAnswered = identity.body !== undefined || identity.failure !== undefined;
  const form = useRef({ isShown: false, wasShown: false }).current;
  const pause = usePoll<PauseState>(identity.body ? "/admin/ingest/pause" : null, IDLE_MS);
  const path = identity.body && !isRefused ? "/admin/monitor/status" : "/dashboard/summary";
  const answers = usePoll<AnswersBody>(
    isAnswered || !mayAsk || form.isShown ? path : null,
    IDLE_MS,
  );
  const byAccess = answers.body?.access === true;
  if (byAccess && !hasAccess) setAccess(true);
  const isSummed = answers.body !== undefined || answers.failure !== undefined;
  const isSignedOut = isRefused || (!mayAsk && isSummed && !byAccess);
  // While a token is tried, the form stays.
  form.isShown = isSignedOut || (!isAnswered && form.isShown);
  form.wasShown ||= form.isShown;
  return (
    <div class="dashboard stack">
      <div class="row row-spread">
        <h1>
          Dashboard <span class="pill">{window.location.host}</span>
        </h1>
        {form.isShown && <TokenForm failure={failure} />}
        {!form.isShown && isAnswered && (
          <ControlBar identity={identity.body} pause={pause} onAction={setAction} />
        )}
      </div>
      {mayAsk && !isAnswered && !form.isShown ? (
        <p role="status">Loading …</p>
      ) : (
        <Glance polled={answers} isSignedIn={!form.isShown} />
      )}
      {!form.isShown && isAnswered && isSummed && (
        <Tabs
          live={live}
          pause={pause.body}
          evaluation={answers.failure ? undefined : answers.body?.checks?.[EVALUATION]?.[0]}
          hasReplaced={form.wasShown}
          onAction={setAction}
        />
      )}
      {action && (
        <ActionDialog
          key={action.path}
          action={action}
          // A dialog reports its end late, when another may be open.
          onClose={() => setAction((present) => (present === action ? undefined : present))}
        />
      )}
    </div>
  );
}

interface ControlProps {
  /** Undefined while nobody is known to be signed in. */
  readonly identity: Identity | undefined;
  readonly pause: Polled<PauseState>;
  readonly onAction: (action: Action) => void;
}

/** Who is signed in, the most frequent actions, and signing out. */
function ControlBar({ identity, pause, onAction }: ControlProps) {
  const isPaused = pause.body?.paused === true;
  // The buttons have their places before it is known, so that nothing moves.
  const isKnown = pause.body !== undefined || pause.failure !== undefined;
  const mayOperate = identity?.scopes.includes("operate") === true;
  const signOut = () => {
    keepSessionToken(null);
    window.location.reload();
  };
  return (
    <div class="row control-bar">
      {identity && <Who identity={identity} />}
      {mayOperate && (
        <>
          <button
            type="button"
            class={`button ${isPaused ? "button-main" : ""}`}
            disabled={!isKnown}
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
  readonly pause: PauseState | undefined;
  /** Undefined while it is not known. */
  readonly evaluation: Check | undefined;
  /** Whether the form that had the focus was here before. */
  readonly hasReplaced: boolean;
  readonly onAction: (action: Action) => void;
}

function Tabs({ live, pause, evaluation, hasReplaced, onAction }: TabsProps) {
  const { tab, id } = useRoute();
  const waiting = usePoll<HeldPage>(WAITING_CHANGES, WAITING_EVERY_MS).body?.by_rule ?? {};
  const marked = Object.entries(waiting).filter(([rule]) => rule !== "none");
  const count = marked.reduce((sum, [, changes]) => sum + changes, 0);
  const nav = useRef<HTMLElement>(null);
  const isNew = useRef(true);
  useEffect(() => {
    const hadFocus = hasReplaced || !isNew.current;
    if (!isNew.current) showSections(nav.current);
    isNew.current = false;
    // The link or form is gone that had the focus.
    if (!hadFocus || document.activeElement !== document.body) return;
    nav.current?.querySelector<HTMLElement>("[aria-current]")?.focus({ preventScroll: true });
  }, [tab, id]);
  return (
    <>
      <nav ref={nav} id={tab} class="row tabs" aria-label="Sections">
        {TABS.map(([name, label]) => (
          <a key={name} href={`#${name}`} aria-current={name === tab ? "page" : undefined}>
            {label}
            {name === "held" && count > 0 && (
              <>
                {" "}
                <span class="pill tone-warn">
                  {formatCount(count)} <span class="visually-hidden">to decide on</span>
                </span>
              </>
            )}
          </a>
        ))}
      </nav>
      {tab === "runs" && id === undefined && (
        <RunsSection live={live} pause={pause} onAction={onAction} />
      )}
      {tab === "runs" && id !== undefined && (
        <OneRun key={id} id={id} pause={pause} onAction={onAction} />
      )}
      {tab === "held" && <HeldSection onAction={onAction} />}
      {tab === "versions" && <VersionsSection onAction={onAction} />}
      {tab === "alerts" && <AlertsSection evaluation={evaluation} onAction={onAction} />}
      {tab === "backups" && <BackupsSection onAction={onAction} />}
      {tab === "audit" && <AuditSection key={id} iata={id} />}
    </>
  );
}

/** Scrolls to the tabs if a link above them led to a section that is out of sight. */
function showSections(nav: HTMLElement | null): void {
  const { top = 0 } = nav?.getBoundingClientRect() ?? {};
  if (top < 0 || top > 0.75 * window.innerHeight) nav?.scrollIntoView();
}

/** Part of the dashboard that the address names: `#runs`, or `#runs/<id>` for one run. */
interface PageRoute {
  readonly tab: (typeof TABS)[number][0];
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
  return { tab: TABS.find(([tab]) => tab === name)?.[0] ?? "runs", id };
}
