import { useState } from "preact/hooks";
import { formatDuration } from "../../src/platform/durations.ts";
import { formatCount } from "../shared/format.ts";
import type { Action } from "./action.ts";
import { EVALUATE_ALERTS, TEST_NOTIFICATION } from "./actions.tsx";
import type { AlertList, AlertRun, AlertRunPage, Check } from "./answers.ts";
import { Section } from "./section.tsx";
import { StatusPill } from "./status-pill.tsx";
import { Table } from "./table.tsx";
import { Time } from "./time.tsx";
import { usePages, usePoll } from "./use-poll.ts";

const EVERY_MS = 10_000;

interface Props {
  /** The service's check of the age of the last evaluation; undefined while it is not known. */
  readonly evaluation: Check | undefined;
  readonly onAction: (action: Action) => void;
}

/** The results of the last evaluation and the history. */
export function AlertsSection({ evaluation, onAction }: Props) {
  const polled = usePages<AlertRunPage>("/admin/alerts/runs", EVERY_MS);
  const runs = polled.pages.flatMap((page) => page.runs);
  const [latest] = runs;
  return (
    <Section
      title="Alerts"
      what="alert history"
      polled={polled}
      actions={
        <>
          <button type="button" class="button" onClick={() => onAction(EVALUATE_ALERTS)}>
            Evaluate now …
          </button>
          <button type="button" class="button" onClick={() => onAction(TEST_NOTIFICATION)}>
            Test notification …
          </button>
        </>
      }
    >
      {evaluation?.output && (
        <p class={`notice notice-${evaluation.status === "fail" ? "bad" : "warn"}`}>
          {evaluation.output}
        </p>
      )}
      {latest && <Findings run={latest} isCurrent={evaluation?.status === "pass"} />}
      <h3>Evaluations</h3>
      <Table
        label="Evaluations"
        columns={HISTORY}
        rows={runs.map(historyRow)}
        advice="The cron trigger evaluates the rules every five minutes, and “Evaluate now” at once."
      />
    </Section>
  );
}

/** Ranks of the states, the most urgent first. */
const URGENCY: { readonly [S in AlertRun["results"][number]["state"]]: number } = {
  firing: 0,
  nodata: 1,
  pending: 2,
  resolved: 3,
  inactive: 4,
};

interface FindingsProps {
  readonly run: AlertRun;
  /** Whether the findings still hold. */
  readonly isCurrent: boolean;
}

function Findings({ run, isCurrent }: FindingsProps) {
  const [showAll, setShowAll] = useState(false);
  const others = usePoll<AlertList>(showAll ? "/admin/alerts?state=inactive" : null, EVERY_MS);
  const urgent = run.results.toSorted((a, b) => URGENCY[a.state] - URGENCY[b.state]);
  const shown = [...urgent, ...(others.body?.alerts ?? [])];
  return (
    <>
      <p class="hint">
        Evaluated <Time at={run.started_at} />: {run.rules_total} rules, {run.firing} firing,{" "}
        {run.pending} pending, {run.nodata} without data.{" "}
        <button
          type="button"
          class="link-button"
          aria-expanded={showAll}
          onClick={() => setShowAll(!showAll)}
        >
          {showAll ? "Active rules only" : "All rules"}
        </button>
      </p>
      {shown.length > 0 && (
        <Table
          label="Rules"
          columns={["State", "Rule", "Message", "Since", "Value", "Limit"]}
          rows={shown.map(({ fingerprint, state, rule, severity, message, ...result }) => ({
            key: fingerprint,
            cells: [
              <StatusPill word={state} />,
              <>
                <a href={`/docs/alerts#${rule}`}>
                  <code>{rule}</code>
                </a>{" "}
                <small>{severity}</small>
              </>,
              message,
              <Time at={result.since} />,
              result.value === null ? "–" : withUnit(result.value, result.unit),
              withUnit(result.threshold, result.unit),
            ],
          }))}
        />
      )}
      {urgent.length === 0 && (
        <p class={isCurrent ? "notice notice-good" : "hint"}>
          {isCurrent ? "No alert is active." : "No alert was active then."}
        </p>
      )}
    </>
  );
}

function withUnit(value: number, unit: string): string {
  if (unit === "ms") return formatDuration(value);
  return `${formatCount(value)} ${value === 1 ? unit.replace(/ies$/, "y").replace(/s$/, "") : unit}`;
}

const HISTORY = [
  "Result",
  "When",
  "Started by",
  "Took",
  "Firing",
  "New",
  "Resolved",
  "Notified",
  "Not delivered",
];

function historyRow({ id, worst, started_at: at, trigger, duration_ms: took, ...run }: AlertRun) {
  return {
    key: id,
    cells: [
      <StatusPill word={worst} />,
      <Time at={at} />,
      trigger,
      took === null ? "–" : formatDuration(took),
      run.firing,
      run.fired,
      run.resolved,
      run.notified,
      run.notify_failed,
    ],
  };
}
