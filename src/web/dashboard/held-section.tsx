import { useState } from "preact/hooks";
import { Segmented } from "../shared/segmented.tsx";
import type { Action } from "./action.ts";
import { decideHeld } from "./actions.tsx";
import type { HeldChange, HeldPage } from "./answers.ts";
import { Section } from "./section.tsx";
import { RowButton, Table } from "./table.tsx";
import { Time } from "./time.tsx";
import { usePages } from "./use-pages.ts";

const EVERY_MS = 10_000;
const FILTERS = {
  waiting: "Waiting",
  approved: "Approved",
  rejected: "Rejected",
  corrected: "Corrected",
} as const;

/** Lists the changes by upstream that wait, the most urgent first; an operator decides on each. */
export function HeldSection({ onAction }: { readonly onAction: (action: Action) => void }) {
  const [filter, setFilter] = useState<keyof typeof FILTERS>("waiting");
  const polled = usePages<HeldPage>(`/admin/ingest/held?state=${filter}`, EVERY_MS);
  const changes = polled.pages.flatMap(({ held }) => held);
  return (
    <Section
      title="Held changes"
      what="list of held changes"
      polled={polled}
      actions={<Segmented legend="Show" choices={FILTERS} value={filter} onChange={setFilter} />}
    >
      <Table
        label="Held changes"
        columns={["Airport", "Why", "Served", "Upstream says", "Since", ""]}
        rows={changes.map((held) => ({ key: held.id, cells: cellsOf(held, onAction) }))}
      />
    </Section>
  );
}

function cellsOf(held: HeldChange, onAction: (action: Action) => void) {
  const { iata, name, rules, since, state, decided_by, note } = held;
  const about = `the change of ${iata ?? name}`;
  const { before, after } = differing(held);
  return [
    <>
      <b>{iata ?? "Subdivision"}</b> {name}
    </>,
    rules.map((rule) => rule.replaceAll("_", " ")).join(", "),
    before,
    after,
    <Time at={since} />,
    <div class="row">
      {decided_by && `${decided_by}${note ? `: “${note}”` : ""}`}
      {state !== "approved" && state !== "corrected" && (
        <RowButton about={about} onClick={() => onAction(decideHeld("Approve", held))}>
          Approve …
        </RowButton>
      )}
      {state !== "rejected" && state !== "corrected" && (
        <RowButton about={about} onClick={() => onAction(decideHeld("Reject", held))}>
          Reject …
        </RowButton>
      )}
    </div>,
  ];
}

/** The fields that differ, in words; of a new or vanished airport that it is not listed. */
function differing({ before, after }: HeldChange): { before: string; after: string } {
  if (before === null || after === null)
    return { before: before ? "listed" : "not listed", after: after ? "listed" : "not listed" };
  return { before: heldText(before, after), after: heldText(after, before) };
}

/** The values of a record that are others in another one. */
function heldText(values: object, others: object): string {
  const known = new Map(Object.entries(others));
  return Object.entries(values)
    .filter(([field, value]) => known.get(field) !== value)
    .map(([field, value]) => `${field}: ${value}`)
    .join(", ");
}
