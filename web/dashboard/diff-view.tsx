import { type ListName, LISTS } from "../../src/schemas/lists.ts";
import { formatCount } from "../shared/format.ts";
import type { CatalogDiff, Comparison, ListDiff } from "./answers.ts";
import { FailureLine } from "./failure-line.tsx";
import { usePoll } from "./use-poll.ts";

interface Props {
  /** A generation or the id of a backup; the published version if absent. */
  readonly from?: string;
  readonly to?: string;
}

/** Both versions stay as they are; only an action makes another comparison. */
const EVERY_MS = 600_000;

/** Compares two versions: the counts of both, and the first changes. */
export function ComparisonView({ from, to }: Props) {
  const query = new URLSearchParams({ ...(from && { from }), ...(to && { to }) });
  const polled = usePoll<Comparison>(`/admin/catalog/comparison?${query}`, EVERY_MS);
  if (polled.body === undefined) return <FailureLine polled={polled} what="comparison" />;
  return <Compared comparison={polled.body} />;
}

function Compared({ comparison }: { readonly comparison: Comparison }) {
  const { from, to, warning, changes } = comparison;
  return (
    <div class="diff" data-diff={`${from.generation}-${to.generation}`}>
      <p class="hint">
        From version {from.generation} to the content of {to.generation}:
      </p>
      <ul class="diff-counts">
        {LISTS.map((list) => (
          <li key={list}>
            {list} {formatCount(from.counts[list])} → <b>{formatCount(to.counts[list])}</b>
          </li>
        ))}
      </ul>
      <LocalesEffect from={from.locales} to={to.locales} />
      {warning !== null && <p class="notice notice-warn">{warning}</p>}
      {changes === null ? (
        <p class="hint">Not every byte of both versions can be read, so no changes can be shown.</p>
      ) : (
        <DiffLists
          diff={changes}
          same={`The content is the same in the locale ${changes.locale}.`}
        />
      )}
    </div>
  );
}

interface LocalesProps {
  readonly from: readonly string[];
  readonly to: readonly string[];
}

/** Says which locales the later version ends, and which it adds. */
function LocalesEffect({ from, to }: LocalesProps) {
  const ended = from.filter((locale) => !to.includes(locale));
  const returning = to.filter((locale) => !from.includes(locale));
  return (
    <>
      {ended.length > 0 && <p>These locales are no longer served: {ended.join(", ")}.</p>}
      {returning.length > 0 && <p>These locales are served as well: {returning.join(", ")}.</p>}
    </>
  );
}

interface ListsProps {
  readonly diff: CatalogDiff;
  /** Text for no differences. */
  readonly same: string;
}

/** Shows the differences list by list, the first ten of each kind. */
export function DiffLists({ diff, same }: ListsProps) {
  const differing = LISTS.filter((list) => hasChanges(diff[list]));
  if (differing.length === 0) return <p role="status">{same}</p>;
  return (
    <>
      {differing.map((list) => (
        <ChangedEntities key={list} list={list} diff={diff[list]} />
      ))}
    </>
  );
}

function hasChanges({ counts: { added, changed, removed } }: ListDiff): boolean {
  return added + changed + removed > 0;
}

/** Of a kind. */
const LISTED = 10;

function ChangedEntities({ list, diff }: { list: ListName; diff: ListDiff }) {
  const { added, changed, removed } = diff.counts;
  return (
    <section class="diff-list">
      <h4>
        {list}{" "}
        <span class="count">
          +{formatCount(added)} ~{formatCount(changed)} −{formatCount(removed)}
          {added + changed + removed > LISTED && ", the first ten of each kind"}
        </span>
      </h4>
      <ul>
        {diff.added.map((entity) => (
          <li key={entity.id} class="diff-added">
            <ins>{entityName(entity)}</ins>
          </li>
        ))}
        {diff.removed.map((entity) => (
          <li key={entity.id} class="diff-removed">
            <del>{entityName(entity)}</del>
          </li>
        ))}
        {diff.changed.map((change) => (
          <li key={change.id} class="diff-changed">
            <b>{change.label}</b> <FieldChanges change={change} />
          </li>
        ))}
      </ul>
    </section>
  );
}

type Fields = { readonly [field: string]: unknown };

function FieldChanges({ change }: { change: ListDiff["changed"][number] }) {
  const { before, after }: { readonly before: Fields; readonly after: Fields } = change;
  const codes = change.airport_iata_codes;
  return (
    <>
      {Object.keys({ ...before, ...after }).map((field) => (
        <span key={field} class="diff-field">
          {field.replaceAll("_", " ")}: <del>{text(before[field])}</del>{" "}
          <ins>{text(after[field])}</ins>
        </span>
      ))}
      {codes && (
        <span class="diff-field">
          airports: <ins>{codes.added.join(" ")}</ins> <del>{codes.removed.join(" ")}</del>
        </span>
      )}
    </>
  );
}

function entityName(entity: Fields): string {
  const code = entity["iata"] ?? entity["iso_code2"] ?? "";
  const name = entity["name"] ?? entity["name_eng"] ?? entity["slug"] ?? entity["id"];
  return `${text(code)} ${text(name)}`.trim();
}

function text(value: unknown): string {
  return typeof value === "string" || typeof value === "number"
    ? String(value)
    : JSON.stringify(value ?? "");
}
