import type { ComponentChildren } from "preact";
import { formatAge, formatCount, formatDuration } from "../shared/format.ts";
import type { Summary } from "./answers.ts";
import { FailureLine } from "./failure-line.tsx";
import { StatusPill } from "./status-pill.tsx";
import { usePoll } from "./use-poll.ts";

const EVERY_MS = 5_000;

/** Shows the public status in four cards. */
export function Glance({ now }: { now: number }) {
  const { body, failure } = usePoll<Summary>("/dashboard/summary", EVERY_MS);
  return (
    <section class="glance" aria-label="At a glance">
      <FailureLine failure={failure} what="summary" hasOlder={body !== undefined} />
      <div class="cards">
        <CatalogCard catalog={body?.catalog} now={now} />
        <IngestCard ingest={body?.ingest} now={now} />
        <AlertsCard alerts={body?.alerts} now={now} hasAnswer={body !== undefined} />
        <BackupsCard backups={body?.backups} now={now} hasAnswer={body !== undefined} />
      </div>
    </section>
  );
}

interface CardProps {
  readonly title: string;
  readonly status: string | undefined;
  readonly value: string;
  readonly children?: ComponentChildren;
}

function Card({ title, status, value, children }: CardProps) {
  return (
    <div class="card" data-card={title}>
      <div class="card-top">
        <h2>{title}</h2>
        {status !== undefined && <StatusPill word={status} />}
      </div>
      <p class="card-value">{value}</p>
      <p class="card-note">{children}</p>
    </div>
  );
}

/** A card whose section is loading, unreadable or absent in this deployment. */
function EmptyCard({ title, section }: { title: string; section: null | undefined | "absent" }) {
  if (section === "absent") {
    return (
      <Card title={title} status={undefined} value="–">
        Not part of this deployment
      </Card>
    );
  }
  return (
    <Card title={title} status={section === null ? "unknown" : undefined} value="–">
      {section === null ? "Cannot be read at present" : "…"}
    </Card>
  );
}

interface CatalogProps {
  readonly catalog: Summary["catalog"] | undefined;
  readonly now: number;
}

function CatalogCard({ catalog, now }: CatalogProps) {
  if (!catalog) return <EmptyCard title="Catalog" section={catalog} />;
  const { generation, published_at: publishedAt, as_of: asOf, counts, locales } = catalog;
  return (
    <Card title="Catalog" status="pass" value={`Version ${generation}`}>
      {formatCount(counts.airports)} airports, {locales} locales, published{" "}
      {formatAge(publishedAt, now)}
      {asOf !== null && `, data of ${asOf}`}
    </Card>
  );
}

interface IngestProps {
  readonly ingest: Summary["ingest"] | undefined;
  readonly now: number;
}

function IngestCard({ ingest, now }: IngestProps) {
  if (!ingest) return <EmptyCard title="Ingest" section={ingest} />;
  const { last_run: last, paused, queued, running, last_success_at: lastSuccess } = ingest;
  const succeeded =
    lastSuccess === null ? "never succeeded" : `last success ${formatAge(lastSuccess, now)}`;
  return (
    <Card title="Ingest" status={ingestStatus(ingest)} value={ingestValue(ingest)}>
      {last?.duration_ms != null && `Last run took ${formatDuration(last.duration_ms)}, `}
      {succeeded}
      {queued > 0 && `, ${queued} waiting`}
      {paused && running !== null && ", stopped at its next step"}
    </Card>
  );
}

function ingestStatus({ paused, running, last_run: last }: NonNullable<Summary["ingest"]>): string {
  if (paused) return "paused";
  if (running !== null) return "running";
  return last?.state ?? "unknown";
}

function ingestValue({ paused, running, last_run: last }: NonNullable<Summary["ingest"]>): string {
  if (running !== null) {
    const { stage, progress } = running;
    const counted = progress.total > 0 ? ` ${progress.done}/${progress.total}` : "";
    return `In stage ${stage ?? "fetch"}${counted}`;
  }
  if (paused) return "Paused";
  return last === null ? "No run yet" : `Idle, last ${last.outcome ?? last.state}`;
}

interface OptionalProps {
  readonly now: number;
  readonly hasAnswer: boolean;
}

function AlertsCard({
  alerts,
  now,
  hasAnswer,
}: OptionalProps & { readonly alerts: Summary["alerts"] }) {
  if (!alerts) return <EmptyCard title="Alerts" section={absent(alerts, hasAnswer)} />;
  const { firing, pending, nodata, webhooks, worst, evaluated_at: at } = alerts;
  return (
    <Card
      title="Alerts"
      status={worst ?? "unknown"}
      value={firing === 0 ? "None firing" : `${firing} firing`}
    >
      {at === null ? "Not evaluated yet" : `Evaluated ${formatAge(at, now)}`}
      {pending > 0 && `, ${pending} pending`}
      {nodata > 0 && `, ${nodata} without data`}
      {webhooks === 0 && ", no webhook: nobody is notified"}
    </Card>
  );
}

function BackupsCard({
  backups,
  now,
  hasAnswer,
}: OptionalProps & { readonly backups: Summary["backups"] }) {
  if (!backups) return <EmptyCard title="Backups" section={absent(backups, hasAnswer)} />;
  const { status, newest_at: newestAt, newest_verified_at: verifiedAt } = backups;
  return (
    <Card
      title="Backups"
      status={status}
      value={newestAt === null ? "None yet" : `Newest ${formatAge(newestAt, now)}`}
    >
      {verifiedAt === null
        ? "None is verified"
        : `The newest verified one is from ${formatAge(verifiedAt, now)}`}
    </Card>
  );
}

/** The summary omits sections that a deployment does not have. */
function absent(section: null | undefined, hasAnswer: boolean): null | undefined | "absent" {
  return section === undefined && hasAnswer ? "absent" : section;
}
