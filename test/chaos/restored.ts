/** What must hold of a restore that succeeded, and what it makes of what was known. Pure. */
import type { BackupContent, Operated, Restored, StoredState, Violation } from "./evidence.ts";

/**
 * I8: what the backup says is there again to the byte, nothing of the time after it is left but the
 * audit, and the catalog is served under a generation above all others. `state` is what the stores
 * had soon after it.
 */
export function checkRestored(restored: Restored, state: StoredState): Violation[] {
  return [
    ...checkHistory(restored, state),
    ...checkVersions(restored, state),
    ...checkAudit(restored, state),
  ].map((what) => ({ invariant: "I8", what }));
}

function checkHistory({ backup, wayBack }: Restored, state: StoredState): string[] {
  const present = new Map(state.rows.map((row) => [row.id, JSON.stringify(row)]));
  const altered = backup.rows
    .filter((row) => isEnd(row.state) && row.state !== "skipped") // which further ticks change
    .filter((row) => present.get(row.id) !== JSON.stringify(row))
    .map((row) => `${JSON.stringify(row)} came back as ${present.get(row.id)}`);
  const known = knownRuns(backup);
  const left = [...knownRuns(wayBack)]
    .filter((id) => !known.has(id) && present.has(id))
    .map((id) => `run ${id} is not in the backup, and still in the history`);
  return [...altered, ...left];
}

function checkVersions({ generation, backup, wayBack }: Restored, state: StoredState): string[] {
  const problems: string[] = [];
  const wanted = backup.manifests.at(-1);
  const highest = wayBack.manifests.at(-1)?.generation ?? 0;
  if ((generation === null) !== (wanted === undefined))
    problems.push(`generation ${generation} serves what is generation ${wanted?.generation}`);
  if (generation !== null && generation <= highest)
    problems.push(`generation ${generation} is not above ${highest}`);
  const expected = new Map(backup.manifests.map((each) => [each.generation, each]));
  for (const manifest of state.truth.manifests) {
    if (generation === null || manifest.generation > generation) continue;
    const isNew = manifest.generation === generation;
    const before = isNew ? wanted : expected.get(manifest.generation);
    const isSame = isNew
      ? JSON.stringify(manifest.locales) === JSON.stringify(before?.locales)
      : JSON.stringify(manifest) === JSON.stringify(before);
    if (!isSame) problems.push(`generation ${manifest.generation} is not what the backup has`);
  }
  return problems;
}

function checkAudit({ wayBack }: Restored, state: StoredState): string[] {
  const present = new Set(state.audit);
  const lost = wayBack.audit.filter((id) => !present.has(id));
  return lost.map((id) => `the audit has lost ${id}`);
}

/** I3: everything that was known just before the restore was in the backup of the present. */
export function checkWayBack({ acknowledged, ends }: Operated, wayBack: BackupContent) {
  const known = knownRuns(wayBack);
  const ended = endsOf(wayBack);
  const violations: Violation[] = [];
  for (const id of acknowledged)
    if (!known.has(id))
      violations.push({ invariant: "I3", what: `run ${id} was gone before the restore` });
  for (const [id, end] of ends)
    if (ended.get(id) !== end)
      violations.push({
        invariant: "I3",
        what: `run ${id} had ended as ${end}, and as ${ended.get(id)} before the restore`,
      });
  return violations;
}

/**
 * Forgets what the backup does not know: it was undone on purpose, or may yet end otherwise. What
 * had ended in the backup has ended so again, whatever became of it since.
 */
export function rewind(operated: Operated, restored: Restored): void {
  const known = knownRuns(restored.backup);
  const ended = endsOf(restored.backup);
  for (const id of operated.acknowledged) if (!known.has(id)) operated.acknowledged.delete(id);
  for (const id of operated.cancelled)
    if (!ended.get(id)?.startsWith("cancelled")) operated.cancelled.delete(id);
  for (const id of operated.ends.keys()) {
    const end = ended.get(id);
    if (end === undefined) operated.ends.delete(id);
    else operated.ends.set(id, end);
  }
  operated.restores.push(restored);
}

function knownRuns({ rows, runs }: BackupContent): Set<string> {
  return new Set([...rows, ...runs].map(({ id }) => id));
}

/** How each run had ended; the coordinator knows of it before D1 does. */
function endsOf({ rows, runs }: BackupContent): ReadonlyMap<string, string> {
  const ended = [...rows, ...runs].filter(({ state }) => isEnd(state));
  return new Map(ended.map(({ id, state, outcome }) => [id, `${state} ${outcome}`]));
}

/** Whether a run has ended. */
export function isEnd(state: string): boolean {
  return state !== "queued" && state !== "running";
}
