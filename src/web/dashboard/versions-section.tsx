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
  const current = versions.find((version) => version.is_current);
  const [from, setFrom] = useState<Version>();
  return (
    <Section title="Published versions">
      <FailureLine failure={failure} what="list of versions" hasOlder={body !== undefined} />
      {body && (
        <Table
          label="Published versions"
          columns={["Version", "Published", "SHA-256", ...LISTS, "Locales", ""]}
        >
          {versions.map((version) => (
            <VersionRow
              key={version.generation}
              version={version}
              now={now}
              onCompare={setFrom}
              onAction={onAction}
            />
          ))}
        </Table>
      )}
      {from && current && (
        <DiffView from={from} to={current.generation} onClose={() => setFrom(undefined)} />
      )}
    </Section>
  );
}

interface RowProps {
  readonly version: Version;
  readonly now: number;
  readonly onCompare: (from: Version) => void;
  readonly onAction: (action: Action) => void;
}

function VersionRow({ version, now, onCompare, onAction }: RowProps) {
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
        {version.has_diff && !version.is_current && (
          <button type="button" class="link-button" onClick={() => onCompare(version)}>
            Changes since<span class="visually-hidden"> version {generation}</span>
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
