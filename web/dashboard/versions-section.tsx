import { useState } from "preact/hooks";
import { LISTS } from "../../src/schemas/lists.ts";
import { formatCount, formatHash } from "../shared/format.ts";
import type { Action } from "./action.ts";
import { rollBackTo } from "./actions.tsx";
import type { Version } from "./answers.ts";
import { ComparisonView } from "./diff-view.tsx";
import { Section } from "./section.tsx";
import { StatusPill } from "./status-pill.tsx";
import { RowButton, Table } from "./table.tsx";
import { Time } from "./time.tsx";
import { usePoll } from "./use-poll.ts";

const EVERY_MS = 10_000;

/** Lists the versions, their differences and the rollback. */
export function VersionsSection({ onAction }: { readonly onAction: (action: Action) => void }) {
  const polled = usePoll<{ versions: readonly Version[] }>("/admin/catalog/versions", EVERY_MS);
  const versions = polled.body?.versions ?? [];
  const current = versions.find((version) => version.is_current);
  const [from, setFrom] = useState<Version>();
  const buttonsOf = (version: Version) => {
    if (current === undefined || version.is_current) return null;
    const about = `version ${version.generation}`;
    return (
      <div class="row">
        <RowButton about={about} onClick={() => setFrom(version)}>
          Changes since
        </RowButton>
        <RowButton about={`to ${about}`} onClick={() => onAction(rollBackTo(version, current))}>
          Roll back …
        </RowButton>
      </div>
    );
  };
  return (
    <Section title="Published versions" what="list of versions" polled={polled}>
      <Table
        label="Published versions"
        columns={["Version", "Published", "SHA-256", ...LISTS, "locales", ""]}
        rows={versions.map((version) => ({
          key: String(version.generation),
          cells: [
            <>
              {version.generation} {version.is_current && <StatusPill word="current" />}
              {version.republishes !== null && <small>the content of {version.republishes}</small>}
            </>,
            <Time at={version.published_at} />,
            <code title={version.catalog_sha256}>{formatHash(version.catalog_sha256)}</code>,
            ...LISTS.map((list) => formatCount(version.counts[list])),
            version.locales.length,
            buttonsOf(version),
          ],
        }))}
      />
      {from && current && (
        <div class="panel">
          <div class="row row-spread">
            <h3>
              From version {from.generation} to {current.generation}
            </h3>
            <button
              type="button"
              class="icon-button"
              aria-label="Close the comparison"
              onClick={() => setFrom(undefined)}
            >
              <span aria-hidden="true">×</span>
            </button>
          </div>
          <ComparisonView from={String(from.generation)} to={String(current.generation)} />
        </div>
      )}
    </Section>
  );
}
