import { useState } from "preact/hooks";
import { formatAge, formatCount, formatDuration } from "../shared/format.ts";
import type { Action } from "./action.ts";
import { EVALUATE_ALERTS, TEST_NOTIFICATION } from "./actions.ts";
import type { AlertResult, AlertRun, AlertRunPage } from "./answers.ts";
import { FailureLine } from "./failure-line.tsx";
import { Section } from "./section.tsx";
import { StatusPill } from "./status-pill.tsx";
import { Table } from "./table.tsx";
import { usePoll } from "./use-poll.ts";

interface Props {
  readonly now: number;
  readonly onAction: (action: Action) => void;
}

const EVERY_MS = 10_000;

/** The results of the last evaluation and the history. */
export function AlertsSection({ now, onAction }: Props) {
  const { body, failure } = usePoll<AlertRunPage>("/admin/alerts/runs", EVERY_MS);
  const runs = body?.runs ?? [];
  const [latest] = runs;
  return (
    <Section
      title="Alerts"
      actions={
        <>
          <button type="button" class="button" onClick={() => onAction(EVALUATE_ALERTS)}>
            Evaluate now
          </button>
          <button type="button" class="button" onClick={() => onAction(TEST_NOTIFICATION)}>
            Test notification
          </button>
        </>
      }
    >
      <FailureLine failure={failure} what="alert history" hasOlder={body !== undefined} />
      {latest && <Findings run={latest} now={now} />}
      {body && latest === undefined && <p class="hint">The rules have not been evaluated yet.</p>}
      {latest && <h3>History</h3>}
      {latest && (
        <Table label="Evaluations" columns={HISTORY_COLUMNS}>
          {runs.map((run) => (
            <EvaluationRow key={run.id} run={run} now={now} />
          ))}
        </Table>
      )}
    </Section>
  );
}

/** States by urgency. */
const URGENCY = ["firing", "nodata", "pending", "resolved", "inactive"];

function Findings({ run, now }: { run: AlertRun; now: number }) {
  const [showAll, setShowAll] = useState(false);
  const results = run.results.toSorted(
    (a, b) => URGENCY.indexOf(a.state) - URGENCY.indexOf(b.state),
  );
  const urgent = results.filter(({ state }) => state !== "inactive");
  const shown = showAll ? results : urgent;
  return (
    <>
      <p class="hint">
        Evaluated {formatAge(run.started_at, now)}: {run.rules_total} rules, {run.firing} firing,{" "}
        {run.pending} pending, {run.nodata} without data.{" "}
        <button
          type="button"
          class="link-button"
          aria-expanded={showAll}
          onClick={() => setShowAll(!showAll)}
        >
          {showAll ? "Only what wants attention" : "All rules"}
        </button>
      </p>
      {shown.length > 0 && (
        <Table label="Rules" columns={["State", "Rule", "Since", "Value", "Limit", "Says"]}>
          {shown.map((result) => (
            <FindingRow key={result.fingerprint} result={result} now={now} />
          ))}
        </Table>
      )}
      {urgent.length === 0 && <p class="notice notice-good">Nothing wants attention.</p>}
    </>
  );
}

function FindingRow({ result, now }: { result: AlertResult; now: number }) {
  const { rule, state, severity, since, value, threshold, unit, message } = result;
  return (
    <tr>
      <td>
        <StatusPill word={state} />
      </td>
      <th scope="row">
        <code>{rule}</code> <small>{severity}</small>
      </th>
      <td>{since === null ? "–" : formatAge(since, now)}</td>
      <td class="number">{value === null ? "–" : withUnit(value, unit)}</td>
      <td class="number">{withUnit(threshold, unit)}</td>
      <td>{message}</td>
    </tr>
  );
}

function withUnit(value: number, unit: string): string {
  return unit === "ms" ? formatDuration(value) : `${formatCount(value)} ${unit}`;
}

const HISTORY_COLUMNS = [
  "Worst",
  "When",
  "Trigger",
  "Took",
  "Firing",
  "Fired",
  "Resolved",
  "Notified",
  "Not delivered",
];

function EvaluationRow({ run, now }: { run: AlertRun; now: number }) {
  return (
    <tr>
      <td>
        <StatusPill word={run.worst} />
      </td>
      <td title={run.started_at}>{formatAge(run.started_at, now)}</td>
      <td>{run.trigger}</td>
      <td class="number">{run.duration_ms === null ? "–" : formatDuration(run.duration_ms)}</td>
      <td class="number">{run.firing}</td>
      <td class="number">{run.fired}</td>
      <td class="number">{run.resolved}</td>
      <td class="number">{run.notified}</td>
      <td class="number">{run.notify_failed}</td>
    </tr>
  );
}
