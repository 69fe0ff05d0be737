import type { ComponentChildren } from "preact";
import { formatCount, formatTime } from "../shared/format.ts";
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
  const { body, failure } = usePoll<Summary>("/dashboard/summary", EVERY_MS);
  return (
    <section class="glance" aria-label="At a glance">
      <FailureLine failure={failure} what="summary" hasOlder={body !== undefined} />
      {body === undefined && failure === undefined && <p role="status">Loading …</p>}
      {body && (
        <div class="cards">
          <Card {...isServed(body)} />
          <Card {...isFresh(body)} />
          {isSignedIn ? <Failures summary={body} runs={runs} /> : <Card {...whatFailed(body)} />}
          {isSignedIn ? (
            <Waiting summary={body} runs={runs} />
          ) : (
            <Card {...whatWaits(body, runs)} />
          )}
          <Card {...willAnybodyKnow(body)} />
        </div>
      )}
      {body && (
        <p class="hint">
          Updated <Time at={body.at} />
        </p>
      )}
    </section>
  );
}

function Card({ question, tone, answer, details }: Answer) {
  return (
    <div class={`card tone-${tone}`} data-card={question}>
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
  const places = `${formatCount(counts.airports)} airports in ${count(locales, "locale")}`;
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

function whatFailed({ degraded, ingest, alerts }: Summary): Answer {
  const failures: string[] = degraded.map((section) => `${section}: cannot be read`);
  const last = ingest?.last_run;
  if (last?.state === "failed") failures.push("The last ingest run failed.");
  const firing = alerts?.alerts.filter(({ state }) => state === "firing") ?? [];
  failures.push(...firing.map(({ rule }) => `Alert ${rule} fires.`));
  return failureCard(failures);
}

function failureCard(failures: readonly ComponentChildren[]): Answer {
  const { length } = failures;
  const answer = length === 0 ? "Nothing" : count(length, "problem");
  const tone = length === 0 ? "good" : "bad";
  return { question: "What failed, and why?", tone, answer, details: failures };
}

/** What failed, with the causes that only an operator may read. */
function Failures({ summary, runs }: { readonly summary: Summary; readonly runs: readonly Run[] }) {
  const { body } = usePoll<MonitorStatus>("/admin/monitor/status", STATUS_EVERY_MS);
  const last = runs.find(({ state }) => state === "succeeded" || state === "failed");
  const failures: ComponentChildren[] = [];
  if (last?.state === "failed")
    failures.push(
      <>
        <a href={`#runs/${last.id}`}>Last run</a>: {causeOf(last)}
      </>,
    );
  const checks = Object.entries(body?.checks ?? {}).flatMap(([name, found]) =>
    found.flatMap(({ status, output }) =>
      status === "pass" || isToldElsewhere(name)
        ? []
        : `${name.split(":")[0]}: ${output ?? "fails"}`,
    ),
  );
  failures.push(...checks);
  if (body === undefined) failures.push(...whatFailed(summary).details);
  return <Card {...failureCard(failures)} />;
}

/** Whether another card has what a check of the monitor found. */
function isToldElsewhere(check: string): boolean {
  return /pause|webhook|backup|held/.test(check);
}

function whatWaits({ ingest, backups }: Summary, runs: readonly Run[]): Answer {
  const waiting: ComponentChildren[] = [];
  const held = ingest?.held;
  if (held && held.waiting > 0)
    waiting.push(
      <>
        <a href="#held">{count(held.waiting, "surprising change")}</a> by upstream, since{" "}
        <Time at={held.oldest_since} />
      </>,
    );
  if (ingest?.queued) waiting.push(`${count(ingest.queued, "run")} in the queue`);
  if (backups && backups.status !== "ok")
    waiting.push(
      <>
        Backups: <StatusPill word={backups.status} />
      </>,
    );
  const refused = runs[0];
  if (refused?.state === "failed" && refused.guards.length > 0)
    waiting.push(
      <>
        <a href={`#runs/${refused.id}`}>A run that guards refused</a> can be approved
      </>,
    );
  const answer = waiting.length === 0 ? "Nothing" : count(waiting.length, "item");
  const tone = waiting.length === 0 ? "good" : "warn";
  return { question: "What waits for me?", tone, answer, details: waiting };
}

/** What waits, with the reason of a pause. */
function Waiting({ summary, runs }: { readonly summary: Summary; readonly runs: readonly Run[] }) {
  const isPaused = summary.ingest?.paused === true;
  const path = isPaused ? "/admin/ingest/pause" : null;
  const { body: pause } = usePoll<Pause>(path, STATUS_EVERY_MS);
  const card = whatWaits(summary, runs);
  if (!isPaused) return <Card {...card} />;
  const details = [
    <PauseLine at={summary.ingest?.paused_at ?? null} pause={pause} />,
    ...card.details,
  ];
  return <Card {...card} tone="warn" answer="Ingestion is paused" details={details} />;
}

interface PauseProps {
  readonly at: string | null;
  /** Undefined until the service has answered. */
  readonly pause: Pause | undefined;
}

function PauseLine({ at, pause }: PauseProps) {
  const { paused_by: by, note, until } = pause ?? {};
  return (
    <>
      Since <Time at={at} />
      {by && ` by ${by}`}
      {note ? `: “${note}”` : ", without a reason"}.{" "}
      {until ? `Ends ${formatTime(until)} UTC.` : "Ends when somebody resumes it."}
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
    answer: `Yes, by ${count(webhooks, "webhook")}`,
    details: [evaluated],
  };
}

function count(number: number, noun: string): string {
  return `${formatCount(number)} ${noun}${number === 1 ? "" : "s"}`;
}
