import { useEffect, useState } from "preact/hooks";
import { formatCount } from "../shared/format.ts";
import { type AdminResult, askAdmin } from "./admin-client.ts";
import {
  type CatalogDiff,
  type ListDiff,
  type ListName,
  LISTS,
  type Version,
  type VersionDiff,
} from "./answers.ts";
import { FailureLine } from "./failure-line.tsx";

interface Props {
  readonly from: Version;
  /** Generation of the current version. */
  readonly to: number;
}

/** Most visible rows of each kind. */
const ROWS_MAX = 100;

/** An isolate may serve the version before for half a minute. */
const UNTIL_SERVED_MS = 5_000;

/** Shows the differences between a version and the current one. */
export function DiffView({ from: { generation, catalog_sha256: sha256 }, to }: Props) {
  const [result, setResult] = useState<AdminResult<VersionDiff>>();
  useEffect(() => {
    const left = new AbortController();
    setResult(undefined);
    const ask = async () => {
      const path = `/catalog/diff?from=${sha256}`;
      const answer = await askAdmin<VersionDiff>({ path, signal: left.signal });
      if (left.signal.aborted) return;
      const isServed = !answer.ok || answer.body.to.generation >= to;
      if (isServed) setResult(answer);
      else setTimeout(() => void ask(), UNTIL_SERVED_MS);
    };
    void ask();
    return () => left.abort();
  }, [sha256, to]);
  return (
    <div class="diff" data-diff={`${generation}-${to}`}>
      {result?.ok === true ? (
        <DiffLists diff={result.body} same="The content is the same in this locale." />
      ) : (
        <FailureLine
          polled={{ body: undefined, failure: result?.failure }}
          what="such comparison"
        />
      )}
    </div>
  );
}

interface ListsProps {
  readonly diff: CatalogDiff;
  /** Text for no differences. */
  readonly same: string;
}

/** Shows the differences list by list. */
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

function ChangedEntities({ list, diff }: { list: ListName; diff: ListDiff }) {
  const { added, changed, removed } = diff.counts;
  return (
    <section class="diff-list">
      <h4>
        {list}{" "}
        <span class="count">
          +{formatCount(added)} ~{formatCount(changed)} −{formatCount(removed)}
        </span>
      </h4>
      <ul>
        {diff.added.slice(0, ROWS_MAX).map((entity) => (
          <li key={entity.id} class="diff-added">
            <ins>{entityName(entity)}</ins>
          </li>
        ))}
        {diff.removed.slice(0, ROWS_MAX).map((entity) => (
          <li key={entity.id} class="diff-removed">
            <del>{entityName(entity)}</del>
          </li>
        ))}
        {diff.changed.slice(0, ROWS_MAX).map((change) => (
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
