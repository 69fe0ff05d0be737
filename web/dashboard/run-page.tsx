import type { ComponentChildren } from "preact";
import { LISTS } from "../../src/schemas/lists.ts";
import { isHalted } from "../../src/schemas/run-words.ts";
import { formatBytes, formatCount, formatHash, formatNumberOf } from "../shared/format.ts";
import type { Action } from "./action.ts";
import { approve, cancelRun, mayApprove, queueAgain } from "./actions.tsx";
import type { PauseState, RunDetail } from "./answers.ts";
import { DiffLists } from "./diff-view.tsx";
import { RunStatePill, starterOf, tookText } from "./runs-section.tsx";
import { Section } from "./section.tsx";
import { Halt, Stages } from "./stage-track.tsx";
import { Table } from "./table.tsx";
import { Time } from "./time.tsx";
import { usePoll } from "./use-poll.ts";

interface Props {
  readonly id: string;
  readonly pause: PauseState | undefined;
  readonly onAction: (action: Action) => void;
}

const EVERY_MS = 2_000;

/** Everything about one run, at a separate address. */
export function RunPage({ id, pause, onAction }: Props) {
  const polled = usePoll<RunDetail>(`/admin/ingest/runs/${id}`, EVERY_MS);
  const run = polled.body;
  const isOpen = run?.state === "running" || run?.state === "queued";
  return (
    <Section
      title="Ingest run"
      what="such run"
      polled={polled}
      actions={
        <>
          <a href="#runs">All runs</a>
          {run && mayApprove(run) && (
            <button type="button" class="button" onClick={() => onAction(approve(run))}>
              Approve …
            </button>
          )}
          {run && (run.state === "failed" || run.state === "cancelled") && (
            <button type="button" class="button" onClick={() => onAction(queueAgain(run))}>
              Queue again …
            </button>
          )}
          {run && isOpen && (
            <button type="button" class="button" onClick={() => onAction(cancelRun(id))}>
              Cancel …
            </button>
          )}
        </>
      }
    >
      {run && <Details run={run} pause={pause} />}
    </Section>
  );
}

interface DetailsProps extends Pick<Props, "pause"> {
  readonly run: RunDetail;
}

function Details({ run, pause }: DetailsProps) {
  const { error, guards, counts, changes } = run;
  const isHeldUp = isHalted(run, pause?.paused === true);
  return (
    <div class="details stack">
      <Stages run={run} />
      {isHeldUp && <Halt pause={pause} />}
      {error && guards.length === 0 && (
        <p class="notice notice-bad">
          <b>{error.code.replaceAll("_", " ")}</b> in stage {error.stage}: {error.message}
        </p>
      )}
      {guards.map(({ guard, message }) => (
        <p key={message} class={`notice ${error ? "notice-bad" : "notice-warn"}`}>
          <b>{guard.replaceAll("_", " ")}</b> {!error && "was overridden: "}
          {message}
        </p>
      ))}
      {run.state === "failed" && (
        <p>
          <a href={adviceFor(run)}>What to do</a>
        </p>
      )}
      <RunFacts run={run} isHeldUp={isHeldUp} />
      {counts && (
        <Table
          label="Counts"
          columns={["List", ...COUNT_COLUMNS]}
          rows={LISTS.map((list) => ({
            key: list,
            cells: [list, ...COUNT_COLUMNS.map((column) => formatCount(counts[list][column]))],
          }))}
        />
      )}
      {changes && (
        <div class="diff">
          <h3>
            Changes <span class="count">the first ten of each kind</span>
          </h3>
          <DiffLists diff={changes} same="It changes nothing in the published catalog." />
        </div>
      )}
      <Rejects run={run} />
    </div>
  );
}

const COUNT_COLUMNS = ["seen", "kept", "rejected", "added", "changed", "removed"] as const;

/** The chapter on failures. */
function adviceFor({ guards, error }: RunDetail): string {
  if (guards.length > 0) return "/docs/operating#guards-refused-a-run";
  const rule = error?.code.startsWith("source_") ? "source_broken" : "ingest_failing";
  return `/docs/alerts#${rule}`;
}

interface FactsProps {
  readonly run: RunDetail;
  /** Whether a pause holds it. */
  readonly isHeldUp: boolean;
}

function RunFacts({ run, isHeldUp }: FactsProps) {
  const facts: [name: string, value: ComponentChildren][] = [
    ["State", <RunStatePill run={run} isHalted={isHeldUp} />],
    ["Started by", starterOf(run)],
    ["Source", run.source],
    ["Mode", `${run.mode.replaceAll("_", " ")}${run.forced ? ", forced" : ""}`],
    ["Queued", <Time at={run.queued_at} />],
    ["Started", <Time at={run.started_at} />],
    ["Finished", <Time at={run.finished_at} />],
    ["Took", tookText(run)],
    ["Attempt", `${run.attempt}, ${formatNumberOf(run.retries, "step")} repeated`],
    ["Version", versionsOf(run)],
    ["Held", run.held && <a href="#held">{heldText(run.held)}</a>],
    ["Files of run", run.candidate_of && <RunLink id={run.candidate_of} />],
    ["Retry of run", run.parent_run_id && <RunLink id={run.parent_run_id} />],
    ["Date of the data", run.as_of ?? null],
    ["Content", run.catalog_sha256 && <Hash sha256={run.catalog_sha256} />],
    ...Object.entries(run.upstream).map(([name, file]): [string, ComponentChildren] => [
      name,
      <>
        <Hash sha256={file.sha256} /> {formatBytes(file.bytes)}
        {file.as_of !== undefined && `, of ${file.as_of}`}
      </>,
    ]),
    ["Note", run.note],
    ["Cancelled by", run.cancellation && describeCancellation(run.cancellation)],
    ["ID", <code>{run.id}</code>],
  ];
  return (
    <dl class="run-facts">
      {facts.map(([name, value]) =>
        value === null ? null : (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ),
      )}
    </dl>
  );
}

function versionsOf({ generation_before: before, generation_after: after }: RunDetail) {
  return after === null ? before : `${before ?? "none"} → ${after}`;
}

function heldText({ waiting, added }: NonNullable<RunDetail["held"]>): string {
  return `${formatNumberOf(waiting, "change")}, ${formatCount(added)} of them new`;
}

function describeCancellation({ by, note }: NonNullable<RunDetail["cancellation"]>): string {
  return note === null ? by : `${by}: “${note}”`;
}

function Hash({ sha256 }: { readonly sha256: string }) {
  return <code title={`SHA-256 ${sha256}`}>{formatHash(sha256)}</code>;
}

function RunLink({ id }: { readonly id: string }) {
  return (
    <a href={`#runs/${id}`}>
      <code>{id}</code>
    </a>
  );
}

function Rejects({ run: { rejects, rejects_total: total } }: { readonly run: RunDetail }) {
  if (total === 0) return <p class="hint">No upstream row was rejected.</p>;
  return (
    <>
      <h3>
        Rejected rows{" "}
        <span class="count">
          {rejects.length < total ? `${rejects.length} of ${formatCount(total)}` : total}
        </span>
      </h3>
      <Table
        label="Rejected rows"
        columns={["Line", "IATA", "Upstream ID", "Reason"]}
        rows={rejects.map(({ line, iata, id, reason }) => ({
          key: `${line} ${id}`,
          cells: [line, iata, id, reason.replaceAll("_", " ")],
        }))}
      />
    </>
  );
}
