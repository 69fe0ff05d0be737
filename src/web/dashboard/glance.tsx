import type { ComponentChildren } from "preact";
import { formatCount, formatNumberOf, formatTime } from "../shared/format.ts";
import { mayApprove } from "./actions.tsx";
import type { MonitorStatus, Pause, Run, Summary } from "./answers.ts";
import { FailureLine } from "./failure-line.tsx";
import { causeOf } from "./runs-section.tsx";
import { StatusPill } from "./status-pill.tsx";
import { Time } from "./time.tsx";
import { usePoll } from "./use-poll.ts";

interface Props {
  readonly isSignedIn: boolean;
  /** The newest runs, for those who are signed in. */
  readonly runs: readonly Run[];
}

const EVERY_MS = 5_000;
const STATUS_EVERY_MS = 30_000;
/** If nothing has changed in the world for a year, the source has stopped. */
const OLD_MS = 365 * 86_400_000;

/** An answer to one of an operator's questions. */
interface Answer {
  readonly question: string;
  readonly tone: "good" | "warn" | "bad" | "quiet";
  readonly answer: string;
  readonly details: readonly ComponentChildren[];
}

/** Answers the five questions of an operator who opens the page at night. */
export function Glance({ isSignedIn, runs }: Props) {
  const polled = usePoll<Summary>("/dashboard/summary", EVERY_MS);
  const { body } = polled;
  const whenSignedIn = (path: string) => (isSignedIn ? path : null);
  const status = usePoll<MonitorStatus>(whenSignedIn("/admin/monitor/status"), STATUS_EVERY_MS);
  const isPaused = body?.ingest?.paused === true;
  const pausePath = isPaused ? whenSignedIn("/admin/ingest/pause") : null;
  const pause = usePoll<Pause>(pausePath, STATUS_EVERY_MS);
  return (
    <section class="stack" aria-label="At a glance">
      <FailureLine polled={polled} what="summary" />
      {body && (
        <>
          <div class="cards">
            <Card {...isServed(body)} />
            <Card {...isFresh(body)} />
            <Card {...whatFailed(body, status.body, runs)} />
            <Card {...whatWaits(body, pause.body, runs)} />
            <Card {...willAnybodyKnow(body)} />
          </div>
          <p class="hint">
            Updated <Time at={body.at} />
          </p>
        </>
      )}
    </section>
  );
}

function Card({ question, tone, answer, details }: Answer) {
  return (
    <div class={`panel card tone-${tone}`} data-card={question}>
      <h2>{question}</h2>
      <p class="card-value">{answer}</p>
      <ul class="card-note">
        {details.map((detail, index) => (
          <li key={index}>{detail}</li>
        ))}
      </ul>
    </div>
  );
}

function isServed({ catalog }: Summary): Answer {
  const question = "Is it served?";
  if (catalog === null)
    return { question, tone: "bad", answer: "No", details: ["No catalog can be read."] };
  const { generation, counts, locales } = catalog;
  const places = `${formatCount(counts.airports)} airports in ${formatNumberOf(locales, "locale")}`;
  return { question, tone: "good", answer: "Yes", details: [`Version ${generation}`, places] };
}

function isFresh({ catalog, ingest }: Summary): Answer {
  const question = "Is it fresh?";
  if (catalog === null) return { question, tone: "quiet", answer: "Unknown", details: [] };
  const details: ComponentChildren[] = [
    <>
      Published <Time at={catalog.published_at} />
    </>,
  ];
  if (ingest?.last_success_at)
    details.push(
      <>
        Last successful run <Time at={ingest.last_success_at} />
      </>,
    );
  const answer = catalog.as_of ?? "Unknown";
  const isOld = Date.now() - Date.parse(catalog.as_of ?? "") > OLD_MS;
  details.unshift(
    isOld ? "The airports are as of this day, over a year ago." : "Day of the airports",
  );
  const isStale = isOld || !ingest?.last_success_at;
  return { question, tone: isStale ? "warn" : "good", answer, details };
}

/** What failed; with the causes, which only an operator may read, once `status` is there. */
function whatFailed(
  { degraded, ingest, alerts }: Summary,
  status: MonitorStatus | undefined,
  runs: readonly Run[],
): Answer {
  const failures: ComponentChildren[] = degraded.map((section) => `${section}: cannot be read`);
  const last = runs.find(({ state }) => state === "succeeded" || state === "failed");
  if (last?.state === "failed")
    failures.push(
      <>
        <a href={`#runs/${last.id}`}>Last run</a>: {causeOf(last)}
      </>,
    );
  else if (ingest?.last_run?.state === "failed") failures.push("The last ingest run failed.");
  const firing = alerts?.alerts.filter(({ state }) => state === "firing") ?? [];
  failures.push(
    ...firing.map(({ rule }) => <>Alert {status ? <a href="#alerts">{rule}</a> : rule} fires.</>),
  );
  for (const [name, found] of Object.entries(status?.checks ?? {}))
    for (const check of found)
      if (check.status !== "pass" && !SHOWN_ELSEWHERE.test(name))
        failures.push(`${name.split(":")[0]}: ${check.output ?? "fails"}`);
  const { length } = failures;
  const answer = length === 0 ? "Nothing" : formatNumberOf(length, "problem");
  const tone = length === 0 ? "good" : "bad";
  return { question: "What failed, and why?", tone, answer, details: failures };
}

/** The checks of the monitor whose findings are among the alerts, the runs, or on another card. */
const SHOWN_ELSEWHERE = /^(alerts|backup|ingest)|pause|webhook|held/;

/** What waits for an operator; with the reason of a pause once `pause` is there. */
function whatWaits(
  { ingest, backups }: Summary,
  pause: Pause | undefined,
  runs: readonly Run[],
): Answer {
  const waiting: ComponentChildren[] = [];
  const isPaused = ingest?.paused === true;
  if (isPaused) waiting.push(describePause(ingest.paused_at, pause));
  const held = ingest?.held;
  if (held && held.waiting > 0)
    waiting.push(
      <>
        <a href="#held">{formatNumberOf(held.waiting, "surprising change")}</a> by upstream, since{" "}
        <Time at={held.oldest_since} />
      </>,
    );
  if (ingest?.queued) waiting.push(`${formatNumberOf(ingest.queued, "run")} in the queue`);
  if (backups && backups.status !== "ok")
    waiting.push(
      <>
        Backups: <StatusPill word={backups.status} />
      </>,
    );
  const [newest] = runs;
  if (newest && mayApprove(newest))
    waiting.push(
      <>
        <a href={`#runs/${newest.id}`}>A run that the guards refused</a> can be approved
      </>,
    );
  const tone = waiting.length === 0 ? "good" : "warn";
  const items = waiting.length === 0 ? "Nothing" : formatNumberOf(waiting.length, "item");
  const answer = isPaused ? "Ingestion is paused" : items;
  return { question: "What waits for me?", tone, answer, details: waiting };
}

function describePause(at: string | null, pause: Pause | undefined) {
  const { paused_by: by, note, until } = pause ?? {};
  return (
    <>
      Since <Time at={at} />
      {by && ` by ${by}`}
      {pause && (note ? `: “${note}”. ` : ", without a reason. ")}
      {pause && (until ? `Ends ${formatTime(until)} UTC.` : "Ends when somebody resumes it.")}
    </>
  );
}

function willAnybodyKnow({ alerts }: Summary): Answer {
  const question = "Will anybody be notified?";
  if (alerts === undefined)
    return { question, tone: "warn", answer: "No", details: ["This deployment has no alerts."] };
  if (alerts === null) return { question, tone: "quiet", answer: "Unknown", details: [] };
  const { webhooks, evaluated_at: at } = alerts;
  const evaluated = at ? (
    <>
      Rules evaluated <Time at={at} />
    </>
  ) : (
    "The rules have not been evaluated yet."
  );
  if (webhooks === 0)
    return {
      question,
      tone: "warn",
      answer: "No",
      details: ["No webhook is configured.", evaluated],
    };
  return {
    question,
    tone: at ? "good" : "warn",
    answer: `Yes, by ${formatNumberOf(webhooks, "webhook")}`,
    details: [evaluated],
  };
}
