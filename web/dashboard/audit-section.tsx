import { useState } from "preact/hooks";
import { Segmented } from "../shared/segmented.tsx";
import type { AuditEntry, AuditPage } from "./answers.ts";
import { actionText } from "../../src/schemas/audit-actions.ts";
import { decidedIn } from "../../src/schemas/decided-change.ts";
import { changeText, valueText } from "./audit-words.ts";
import { DecidedChanges } from "./decided-changes.tsx";
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

interface Props {
  /** The airport whose decisions are wanted; undefined for all entries. */
  readonly iata: string | undefined;
}

/** The audit: who changed what and why, with the former values. */
export function AuditSection({ iata }: Props) {
  const [filter, setFilter] = useState<keyof typeof FILTERS>("all");
  const query = new URLSearchParams({
    ...(filter !== "all" && { outcome: filter }),
    ...(iata !== undefined && { iata }),
  });
  const polled = usePages<AuditPage>(`/admin/audit?${query}`, EVERY_MS);
  const entries = polled.pages.flatMap((page) => page.entries);
  return (
    <Section
      title="Audit"
      what="audit"
      polled={polled}
      actions={
        <>
          <AirportFilter key={iata} iata={iata} />
          <Segmented legend="Show" choices={FILTERS} value={filter} onChange={setFilter} />
        </>
      }
    >
      <Table
        label="Audit"
        columns={COLUMNS}
        rows={entries.map(auditRow)}
        advice="Each change by an operator appears here."
      />
    </Section>
  );
}

/** Leads to the decisions about one airport. */
function AirportFilter({ iata }: Props) {
  const onSubmit = (event: SubmitEvent & { currentTarget: HTMLFormElement }) => {
    event.preventDefault();
    const typed = new FormData(event.currentTarget).get("iata");
    const code = typeof typed === "string" ? typed.trim().toUpperCase() : "";
    window.location.hash = code === "" ? "#audit" : `#audit/${code}`;
  };
  return (
    <form class="row" onSubmit={onSubmit}>
      <label class="row">
        Airport
        <input
          class="input input-code"
          name="iata"
          defaultValue={iata ?? ""}
          placeholder="ZRH"
          pattern="[A-Za-z]{3}"
          title="IATA code"
          autocomplete="off"
        />
      </label>
      <button type="submit" class="button">
        Decisions
      </button>
      {iata !== undefined && <a href="#audit">All entries</a>}
    </form>
  );
}

const COLUMNS = ["Action", "When", "Who", "Target", "Outcome", "Request", "Before → after"];

function auditRow(entry: AuditEntry) {
  const { id, action, at, actor, target, outcome, detail, request, before, after } = entry;
  const decided = decidedIn(after);
  return {
    key: id,
    cells: [
      <span title={action}>{actionText(action)}</span>,
      <Time at={at} />,
      actor,
      <span class="id" title={target ?? ""}>
        {decided.length === 1
          ? (decided[0]?.iata ?? decided[0]?.name)
          : target?.replaceAll("_", " ")}
      </span>,
      <>
        <StatusPill word={outcome} /> {detail}
      </>,
      valueText(request),
      <>
        {changeText(before, after)}
        {decided.length > 0 && <DecidedChanges changes={decided} total={decided.length} />}
      </>,
    ],
  };
}
