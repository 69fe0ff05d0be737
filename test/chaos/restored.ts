/** The invariants of a successful restore. Pure. */
import { isDeepStrictEqual } from "node:util";
import { isOpen } from "../../src/coordinator/jobs.ts";
import type { Restored, StoredState, Violation } from "./evidence.ts";

/**
 * I8: the backup's content is there again to the byte, nothing of the history and the audit is lost,
 * and the catalog is served under a generation above all others. `state` is what the stores had soon
 * after it.
 */
export function checkRestored(restored: Restored, state: StoredState): Violation[] {
  return [
    ...checkHistory(restored, state),
    ...checkVersions(restored, state),
    ...checkAudit(restored, state),
  ].map((what) => ({ invariant: "I8", what }));
}

function checkHistory({ backup }: Restored, state: StoredState): string[] {
  const present = new Map(state.rows.map((row) => [row.id, JSON.stringify(row)]));
  return backup.rows
    .filter((row) => !isOpen(row.state) && row.state !== "skipped") // which further ticks change
    .filter((row) => present.get(row.id) !== JSON.stringify(row))
    .map((row) => `${JSON.stringify(row)} came back as ${present.get(row.id)}`);
}

function checkVersions({ generation, backup, undo }: Restored, state: StoredState): string[] {
  const problems: string[] = [];
  const wanted = backup.manifests.at(-1);
  const highest = undo.manifests.at(-1)?.generation ?? 0;
  if ((generation === null) !== (wanted === undefined))
    problems.push(`generation ${generation} serves what is generation ${wanted?.generation}`);
  if (generation !== null && generation <= highest)
    problems.push(`generation ${generation} is not above ${highest}`);
  const expected = new Map(backup.manifests.map((manifest) => [manifest.generation, manifest]));
  for (const manifest of state.truth.manifests) {
    if (generation === null || manifest.generation > generation) continue;
    const isNew = manifest.generation === generation;
    const before = isNew ? wanted : expected.get(manifest.generation);
    const isSame = isNew
      ? isDeepStrictEqual(manifest.locales, before?.locales)
      : isDeepStrictEqual(manifest, before);
    if (!isSame) problems.push(`generation ${manifest.generation} is not what the backup has`);
  }
  return problems;
}

function checkAudit({ undo }: Restored, state: StoredState): string[] {
  const present = new Set(state.audit);
  const lost = undo.audit.filter((id) => !present.has(id));
  return lost.map((id) => `the audit has lost ${id}`);
}
