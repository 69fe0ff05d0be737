import { useState } from "preact/hooks";
import { formatCount, formatNumberOf } from "../shared/format.ts";
import { Segmented } from "../shared/segmented.tsx";
import type { Action } from "./action.ts";
import { decideAll, decideHeld } from "./actions.tsx";
import type { HeldChange, HeldPage } from "./answers.ts";
import { FailureLine } from "./failure-line.tsx";
import { After, Before } from "./held-record.tsx";
import { WORDS_OF_RULES } from "./held-words.ts";
import { Section } from "./section.tsx";
import { RowButton, Table } from "./table.tsx";
import { Time, useNow } from "./time.tsx";
import { usePages, usePoll } from "./use-poll.ts";

const EVERY_MS = 10_000;
const FILTERS = {
  waiting: "Waiting",
  approved: "Approved",
  rejected: "Rejected",
  corrected: "Corrected",
} as const satisfies { readonly [S in HeldChange["state"]]: string };

/** What to do where there are none. */
const ADVICE: { readonly [S in keyof typeof FILTERS]: string } = {
  waiting: "Changes by upstream will wait here for a decision.",
  approved: "The runs have accepted the approved changes.",
  rejected: "What you reject stays here until upstream says something else.",
  corrected: "The snapshot corrects nothing of upstream.",
};

interface Props {
  readonly onAction: (action: Action) => void;
}

/** Groups the changes by upstream that wait by rule, the most urgent first; an operator decides. */
export function HeldSection({ onAction }: Props) {
  const [state, setState] = useState<keyof typeof FILTERS>("waiting");
  const polled = usePoll<HeldPage>(`/admin/ingest/held?state=${state}&limit=1`, EVERY_MS);
  const groups = Object.entries(polled.body?.by_rule ?? {});
  return (
    <Section
      title="Held changes"
      what="list of held changes"
      polled={polled}
      actions={<Segmented legend="Show" choices={FILTERS} value={state} onChange={setState} />}
    >
      {groups.length === 0 && <p class="hint">There are none. {ADVICE[state]}</p>}
      {groups.map(([rule, total], index) => (
        <HeldGroup
          key={`${state} ${rule}`}
          group={{ rule, total, state }}
          isFirst={index === 0}
          onAction={onAction}
        />
      ))}
    </Section>
  );
}

interface Group {
  readonly rule: string;
  readonly total: number;
  readonly state: keyof typeof FILTERS;
}

interface GroupProps extends Props {
  readonly group: Group;
  readonly isFirst: boolean;
}

function HeldGroup({ group, isFirst, onAction }: GroupProps) {
  const [isOpen, setOpen] = useState(isFirst);
  const { rule, total, state } = group;
  return (
    <details
      class="panel held-group"
      open={isOpen}
      data-rule={rule}
      onToggle={(event) => setOpen(event.currentTarget.open)}
    >
      <summary>
        <b>{rule === "none" ? "No rule" : rule.replaceAll("_", " ")}</b>{" "}
        <span class={`pill ${state === "waiting" && rule !== "none" ? "tone-warn" : ""}`}>
          {formatNumberOf(total, "change")}
        </span>{" "}
        <span class="hint">{WORDS_OF_RULES[rule]}</span>
      </summary>
      {isOpen && <HeldChanges group={group} onAction={onAction} />}
    </details>
  );
}

function HeldChanges({ group, onAction }: Props & { readonly group: Group }) {
  const { rule, total, state } = group;
  const path = `/admin/ingest/held?state=${state}&rule=${rule}`;
  const polled = usePages<HeldPage>(path, EVERY_MS);
  const changes = polled.pages.flatMap(({ held }) => held);
  const now = useNow();
  return (
    <div class="stack">
      <FailureLine polled={polled} what="list of held changes" />
      {state === "waiting" && total > 1 && (
        <div class="row">
          {(["Approve", "Reject"] as const).map((verb) => (
            <button
              key={verb}
              type="button"
              class="button"
              onClick={() => onAction(decideAll(verb, { rule, total }))}
            >
              {verb} all {formatCount(total)} …
            </button>
          ))}
        </div>
      )}
      {polled.body && (
        <Table
          label={`Held changes: ${rule.replaceAll("_", " ")}`}
          columns={["Airport", "Served", "Upstream says", "Since", "Without a decision", ""]}
          rows={changes.map((held) => ({
            key: held.id,
            cells: cellsOf(held, { rule, now, onAction }),
          }))}
        />
      )}
      {polled.loadMore && (
        <button type="button" class="button" onClick={polled.loadMore}>
          Show more
        </button>
      )}
    </div>
  );
}

interface RowContext extends Props {
  readonly rule: string;
  readonly now: number;
}

function cellsOf(held: HeldChange, { rule, now, onAction }: RowContext) {
  const { iata, name, rules, since, state, decided_by, note } = held;
  const about = `the change of ${iata ?? name}`;
  const others = rules.filter((other) => other !== rule);
  return [
    <div>
      <b>{iata ?? "Subdivision"}</b> {name}
      {others.length > 0 && <small>also {others.join(", ").replaceAll("_", " ")}</small>}
      <Links held={held} />
    </div>,
    <Before held={held} />,
    <After held={held} />,
    <Time at={since} />,
    <Due held={held} now={now} />,
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

/** The outcome without a decision. */
function Due({ held: { state, due_at: dueAt }, now }: { held: HeldChange; now: number }) {
  if (state === "approved") return <>The next run accepts it.</>;
  if (state !== "waiting") return <>What is served stays.</>;
  if (dueAt === null) return <>It waits for you.</>;
  if (Date.parse(dueAt) <= now) return <>The next run accepts it.</>;
  return (
    <span>
      Taken over <Time at={dueAt} />
    </span>
  );
}

/** Where to look before one decides. */
function Links({ held: { iata, before, after } }: { readonly held: HeldChange }) {
  if (iata === null) return null;
  const icao = [before, after]
    .map((record) => record && "icao" in record && record.icao)
    .find(Boolean);
  const upstream = icao ? `airports/${icao}/` : `search?q=${iata}`;
  return (
    <small class="held-links">
      {before && <a href={`/?airport=${iata}`}>Served place</a>}
      {after && "lat" in after && (
        <a
          href={`https://www.openstreetmap.org/?mlat=${after.lat}&mlon=${after.lon}#map=11/${after.lat}/${after.lon}`}
        >
          Upstream’s place
        </a>
      )}
      <a href={`https://ourairports.com/${upstream}`}>OurAirports</a>
      <a href={`#audit/${iata}`}>Decisions</a>
    </small>
  );
}
