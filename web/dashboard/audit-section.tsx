import { useState } from "preact/hooks";
import { Segmented } from "../shared/segmented.tsx";
import type { AuditEntry, AuditPage } from "./answers.ts";
import { actionText, changeText, valueText } from "./audit-words.ts";
import { Section } from "./section.tsx";
import { StatusPill } from "./status-pill.tsx";
import { Table } from "./table.tsx";
import { Time } from "./time.tsx";
import { usePages } from "./use-poll.ts";

const EVERY_MS = 10_000;
const FILTERS = {
  all: "All",
  done: "Done",
  refused: "Refused",
  failed: "Failed",
} as const satisfies { readonly [O in AuditEntry["outcome"] | "all"]: string };

/** The audit: who changed what, why, and what it was before. */
export function AuditSection() {
  const [filter, setFilter] = useState<keyof typeof FILTERS>("all");
  const query = filter === "all" ? "" : `?outcome=${filter}`;
  const polled = usePages<AuditPage>(`/admin/audit${query}`, EVERY_MS);
  const entries = polled.pages.flatMap((page) => page.entries);
  return (
    <Section
      title="Audit"
      what="audit"
      polled={polled}
      actions={<Segmented legend="Show" choices={FILTERS} value={filter} onChange={setFilter} />}
    >
      <Table label="Audit" columns={COLUMNS} rows={entries.map(auditRow)} />
    </Section>
  );
}

const COLUMNS = ["Action", "When", "Who", "Target", "Outcome", "Request", "Before → after"];

function auditRow(entry: AuditEntry) {
  const { id, action, at, actor, target, outcome, detail, request, before, after } = entry;
  return {
    key: id,
    cells: [
      <span title={action}>{actionText(action)}</span>,
      <Time at={at} />,
      actor,
      <span class="id" title={target ?? ""}>
        {target}
      </span>,
      <>
        <StatusPill word={outcome} /> {detail}
      </>,
      valueText(request),
      changeText(before, after),
    ],
  };
}
