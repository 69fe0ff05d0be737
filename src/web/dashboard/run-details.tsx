import { formatCount, formatTime } from "../shared/format.ts";
import type { Action } from "./action.ts";
import { approve, mayApprove } from "./actions.ts";
import { LISTS, type Run } from "./answers.ts";
import { RunChanges } from "./run-changes.tsx";
import { Table } from "./table.tsx";

interface Props {
  readonly run: Run;
  readonly onAction: (action: Action) => void;
}

/** Shows the details of a run that do not fit into the table. */
export function RunDetails({ run, onAction }: Props) {
  return (
    <div class="details">
      {run.error && (
        <p class="notice notice-bad">
          <b>{run.error.code}</b> in stage {run.error.stage}: {run.error.message}
        </p>
      )}
      {run.guards.map(({ guard, message }) => (
        <p key={message} class="notice notice-warn">
          <b>{guard}</b> {message}
        </p>
      ))}
      {mayApprove(run) && (
        <p>
          <button type="button" class="button" onClick={() => onAction(approve(run))}>
            Approve …
          </button>
        </p>
      )}
      <p class="hint">
        Run <code>{run.id}</code>, asked for by {run.requested_by}, queued{" "}
        {formatTime(run.queued_at)} UTC, attempt {run.attempt}
        {run.forced && ", forced"}
        {run.candidate_of !== null && (
          <>
            , from what run <code>{run.candidate_of}</code> has fetched
          </>
        )}
        {run.note !== null && `: “${run.note}”`}
      </p>
      {run.counts && <Counts counts={run.counts} />}
      {run.counts && <RunChanges run={run} />}
      <Rejects run={run} />
    </div>
  );
}

const COUNT_COLUMNS = ["seen", "kept", "rejected", "added", "changed", "removed"] as const;

function Counts({ counts }: { counts: NonNullable<Run["counts"]> }) {
  return (
    <Table label="Counts" columns={["List", ...COUNT_COLUMNS]}>
      {LISTS.map((list) => (
        <tr key={list}>
          <th scope="row">{list}</th>
          {COUNT_COLUMNS.map((column) => (
            <td key={column} class="number">
              {formatCount(counts[list][column])}
            </td>
          ))}
        </tr>
      ))}
    </Table>
  );
}

function Rejects({ run }: { run: Run }) {
  if (run.rejects_total === 0) return <p class="hint">No upstream row was rejected.</p>;
  const { rejects, rejects_total: total } = run;
  return (
    <>
      <h3>
        Rejected rows{" "}
        <span class="count">
          {rejects.length < total ? `${rejects.length} of ${formatCount(total)}` : total}
        </span>
      </h3>
      <Table label="Rejected rows" columns={["Line", "IATA", "Upstream id", "Reason"]}>
        {rejects.map(({ line, iata, id, reason }) => (
          <tr key={`${line} ${id}`}>
            <td class="number">{line}</td>
            <td>{iata}</td>
            <td>{id}</td>
            <td>{reason.replaceAll("_", " ")}</td>
          </tr>
        ))}
      </Table>
    </>
  );
}
