import { useState } from "preact/hooks";
import { formatAge, formatCount } from "../shared/format.ts";
import type { Action } from "./action.ts";
import { rollBack } from "./actions.ts";
import { LISTS, type Version, type VersionList } from "./answers.ts";
import { DiffView } from "./diff-view.tsx";
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

/** Lists the versions, their differences and the rollback. */
export function VersionsSection({ now, onAction }: Props) {
  const { body, failure } = usePoll<VersionList>("/admin/catalog/versions", EVERY_MS);
  const versions = body?.versions ?? [];
  const [pair, setPair] = useState<{ readonly from: number; readonly to: number }>();
  return (
    <Section title="Published versions">
      <FailureLine failure={failure} what="list of versions" hasOlder={body !== undefined} />
      {body && (
        <Table
          label="Published versions"
          columns={["Version", "Published", "SHA-256", ...LISTS, "Locales", ""]}
        >
          {versions.map((version, index) => (
            <VersionRow
              key={version.generation}
              version={version}
              before={versions[index + 1]}
              now={now}
              onCompare={(from) => setPair({ from, to: version.generation })}
              onAction={onAction}
            />
          ))}
        </Table>
      )}
      {versions.length > 1 && <PairForm versions={versions} onCompare={setPair} />}
      {pair && <DiffView from={pair.from} to={pair.to} onClose={() => setPair(undefined)} />}
    </Section>
  );
}

interface RowProps {
  readonly version: Version;
  readonly before: Version | undefined;
  readonly now: number;
  readonly onCompare: (from: number) => void;
  readonly onAction: (action: Action) => void;
}

function VersionRow({ version, before, now, onCompare, onAction }: RowProps) {
  const { generation, published_at: publishedAt, catalog_sha256: sha256 } = version;
  return (
    <tr data-version={generation}>
      <th scope="row">
        {generation} {version.is_current && <StatusPill word="current" />}
      </th>
      <td title={publishedAt}>{formatAge(publishedAt, now)}</td>
      <td>
        <code title={sha256}>{sha256.slice(0, 12)}</code>
      </td>
      {LISTS.map((list) => (
        <td key={list} class="number">
          {formatCount(version.counts[list])}
        </td>
      ))}
      <td class="number">{version.locales.length}</td>
      <td class="row-actions">
        {before && (
          <button type="button" class="link-button" onClick={() => onCompare(before.generation)}>
            Compare with {before.generation}
          </button>
        )}
        {!version.is_current && (
          <button type="button" class="link-button" onClick={() => onAction(rollBack(generation))}>
            Roll back<span class="visually-hidden"> to version {generation}</span>
          </button>
        )}
      </td>
    </tr>
  );
}

interface PairProps {
  readonly versions: readonly Version[];
  readonly onCompare: (pair: { readonly from: number; readonly to: number }) => void;
}

/** Compares any two versions. */
function PairForm({ versions, onCompare }: PairProps) {
  const onSubmit = (event: SubmitEvent & { currentTarget: HTMLFormElement }) => {
    event.preventDefault();
    const chosen = new FormData(event.currentTarget);
    onCompare({ from: Number(chosen.get("from")), to: Number(chosen.get("to")) });
  };
  const options = (chosen: number | undefined) =>
    versions.map(({ generation }) => (
      <option key={generation} value={generation} selected={generation === chosen}>
        {generation}
      </option>
    ));
  return (
    <form class="pair-form" onSubmit={onSubmit}>
      <label class="field">
        <span class="field-label">From version</span>
        <select class="select" name="from">
          {options(versions[1]?.generation)}
        </select>
      </label>
      <label class="field">
        <span class="field-label">To version</span>
        <select class="select" name="to">
          {options(versions[0]?.generation)}
        </select>
      </label>
      <button type="submit" class="button">
        Compare
      </button>
    </form>
  );
}
