/** The invariants of all answers and stores, once the faults are over. Pure. */
import type { Run } from "../../src/schemas/run.ts";
import { isDeepStrictEqual } from "node:util";
import { negotiateLocale, parseLocale } from "../../src/catalog/locale.ts";
import { type Manifest, messageSha256 } from "../../src/parts/manifest.ts";
import { SHRINK_MAX_PERCENT } from "../../src/ingest/guards.ts";
import { isOpen } from "../../src/coordinator/jobs.ts";
import { bodiesOf } from "../builders/parts.ts";
import type { Older, Operated, Served, StoredState, Violation } from "./evidence.ts";

export interface Evidence {
  readonly served: Iterable<Served>;
  /** Manifests that stores have shown at any time. */
  readonly shown: Iterable<Manifest>;
  readonly older: readonly Older[];
  readonly operated: Operated;
  readonly state: StoredState;
  /** Those that were configured at any time. */
  readonly defaultLocales: readonly string[];
}

/**
 * Finds every violation of I1 to I7, and whether the stores agree; `checkRestored` checks I8 at each
 * restore.
 */
export function checkInvariants(evidence: Evidence): Violation[] {
  const manifests = allManifests(evidence);
  return [
    ...checkServed(evidence, manifests),
    ...checkShown(evidence, manifests),
    ...checkOlder(evidence, manifests),
    ...checkRuns(evidence),
    ...checkPublications(evidence, manifests),
    ...checkForce(evidence.state, manifests),
    ...checkPauses(evidence, manifests),
    ...checkStores(evidence.state),
  ];
}

type Manifests = ReadonlyMap<number, Manifest>;

function allManifests({ state: { truth, kept }, operated }: Evidence): Manifests {
  const undone = operated.restores.flatMap(({ undo }) => undo.manifests);
  const all = [...undone, ...Object.values(kept), ...truth.manifests];
  return new Map(all.map((manifest) => [manifest.generation, manifest]));
}

/** I1: each answer was of a published manifest, in the locale that it should be in. */
function checkServed({ served, defaultLocales }: Evidence, manifests: Manifests): Violation[] {
  return [...served].flatMap((answer) => {
    const problem = problemOf(answer, manifests, defaultLocales);
    if (problem === undefined) return [];
    return [{ invariant: "I1", what: `${problem}: ${JSON.stringify(answer)}` }];
  });
}

/** I1: a manifest is shown as it was published. */
function checkShown({ shown }: Evidence, manifests: Manifests): Violation[] {
  return [...shown]
    .filter((manifest) => !isDeepStrictEqual(manifest, manifests.get(manifest.generation)))
    .map((manifest) => ({ invariant: "I1", what: `never published: ${JSON.stringify(manifest)}` }));
}

function problemOf(
  answer: Served,
  manifests: Manifests,
  defaultLocales: readonly string[],
): string | undefined {
  const manifest = manifests.get(answer.generation);
  const entry = manifest?.locales[answer.locale];
  if (manifest === undefined) return "a generation that was never published";
  if (entry === undefined) return "a locale that was not published in this generation";
  // The version before is served in the locale that the current one was to be served in.
  const choosers = [...manifests.values()].filter(({ previous }) => previous === answer.generation);
  const parsed = parseLocale(answer.wanted);
  const tag = parsed.ok ? parsed.tag : "";
  const right = [manifest, ...choosers].flatMap(({ locales }) =>
    defaultLocales.map((locale) => negotiateLocale(tag, locales, locale).locale),
  );
  if (!right.includes(answer.locale)) return `not in ${right.join(" or ")}`;
  if (messageSha256(entry) !== answer.messageSha256) return "another message than was published";
  const key = answer.tag.replace(/^text-/, "");
  if (!bodiesOf(manifest, [answer.locale]).some((body) => body.key === key))
    return "an unpublished body";
  return undefined;
}

/** I2: an older version is served only where the manifest of a newer one names it as the one before. */
function checkOlder({ older }: Evidence, manifests: Manifests): Violation[] {
  return older
    .filter(({ generation, held }) =>
      held.every((newer) => manifests.get(newer)?.previous !== generation),
    )
    .map(({ generation, held, request }) => ({
      invariant: "I2",
      what: `generation ${generation} after ${held.join(", ")}\n  ${request}`,
    }));
}

/** I3 and I6: every run has ended, once, and D1 says what the coordinator says. */
function checkRuns({ operated, state }: Evidence): Violation[] {
  const rows = new Map(state.rows.map((row) => [row.id, row]));
  const violations: Violation[] = [];
  const violate = (invariant: string, what: string) => violations.push({ invariant, what });
  for (const row of state.rows)
    if (row.state === "queued" || row.state === "running")
      violate("I6", `D1 shows run ${row.id} as ${row.state}`);
  for (const run of state.truth.runs) {
    if (isOpen(run.state)) violate("I3", `run ${run.id} is still ${run.state}`);
    const row = rows.get(run.id);
    const isSame =
      row?.state === run.state &&
      row.outcome === run.outcome &&
      row.generation_after === run.generation_after &&
      row.finished_at === run.finished_at;
    if (!isSame) violate("D1", `${JSON.stringify(row)} instead of ${JSON.stringify(run)}`);
  }
  for (const id of operated.acknowledged)
    if (!rows.has(id)) violate("I3", `run ${id} was acknowledged and is gone`);
  for (const id of operated.cancelled)
    if (rows.get(id)?.state !== "cancelled")
      violate("I3", `run ${id} was to be cancelled and is ${JSON.stringify(rows.get(id))}`);
  for (const [id, end] of operated.ends) {
    const row = rows.get(id);
    if (!isDeepStrictEqual({ ...row, ...end }, row))
      violate("I3", `run ${id} had ended as ${JSON.stringify(end)} and is ${JSON.stringify(row)}`);
  }
  return violations;
}

/** I4 and I7: each generation comes from one run that succeeded, a rollback, a restore or a takeover. */
function checkPublications({ operated, state }: Evidence, manifests: Manifests): Violation[] {
  const violations: Violation[] = [];
  const publishers = publishersOf(state);
  const restored = new Set(operated.restores.map(({ generation }) => generation));
  for (const [generation, runs] of publishers)
    if (runs.length > 1)
      violations.push({ invariant: "I4", what: `${generation} is of ${JSON.stringify(runs)}` });
  const repeats = [...manifests.values()].filter(
    ({ generation }) =>
      !publishers.has(generation) &&
      !operated.rollbacks.has(generation) &&
      !restored.has(generation),
  );
  const known = [...publishers.keys(), ...operated.rollbacks.keys()];
  const lost = operated.rollbackAttempts - operated.rollbacks.size + operated.takeovers;
  for (const manifest of repeats)
    if (!isRepetition(manifest, manifests))
      violations.push({
        invariant: "I7",
        what: `generation ${manifest.generation} is of no run that succeeded and of no rollback`,
      });
  if (repeats.length > lost)
    violations.push({
      invariant: "I7",
      what: `${repeats.length} generations are of nobody, after ${lost} takeovers and rollbacks without an answer; of somebody are ${known.join(", ")}`,
    });
  for (const [generation, earlier] of operated.rollbacks)
    if (!haveSameLocales(manifests.get(generation), manifests.get(earlier)))
      violations.push({ invariant: "I1", what: `${generation} does not repeat ${earlier}` });
  return violations;
}

/** The runs that published each generation. */
function publishersOf({ rows, otherRows }: StoredState): ReadonlyMap<number, readonly Run[]> {
  // A restored backup of the other installation brings its runs.
  const runs = new Map([...rows, ...otherRows].map((run) => [run.id, run])).values();
  const published = [...runs].filter(({ outcome }) => outcome === "published");
  return Map.groupBy(published, (run) => run.generation_after ?? -1);
}

/** I7: a candidate that the guards refuse is published by force only. */
function checkForce(state: StoredState, manifests: Manifests): Violation[] {
  return [...publishersOf(state).values()].flat().flatMap((run) => {
    const before = manifests.get(run.generation_before ?? -1)?.counts.airports;
    const after = manifests.get(run.generation_after ?? -1)?.counts.airports;
    if (before === undefined || after === undefined || run.forced) return [];
    if (after >= before * (1 - SHRINK_MAX_PERCENT / 100)) return [];
    const what = `published without force: ${before} airports → ${after} by ${run.id}`;
    return [{ invariant: "I7", what }];
  });
}

function isRepetition(manifest: Manifest, manifests: Manifests): boolean {
  return [...manifests.values()].some(
    (earlier) => earlier.generation < manifest.generation && haveSameLocales(manifest, earlier),
  );
}

/** A version that R2 never got has nothing to be compared with. */
function haveSameLocales(one: Manifest | undefined, other: Manifest | undefined): boolean {
  if (one === undefined || other === undefined) return true;
  return JSON.stringify(one.locales) === JSON.stringify(other.locales);
}

/** I5: no run published within an acknowledged pause. */
function checkPauses({ operated, state }: Evidence, manifests: Manifests): Violation[] {
  const publishers = publishersOf(state);
  const ofRuns = [...manifests.values()].filter(({ generation }) => publishers.has(generation));
  return operated.pauses.flatMap(({ from, to, before, after }) =>
    ofRuns
      .filter(({ generation, published_at }) => {
        const at = Date.parse(published_at);
        const cameBetween =
          before !== undefined && after !== undefined && generation > before && generation <= after;
        return (at > from && at < to) || cameBetween;
      })
      .map(({ generation, published_at }) => ({
        invariant: "I5",
        what: `generation ${generation} was published at ${published_at}, in the pause from ${new Date(from).toISOString()} to ${new Date(to).toISOString()}, from ${before} to ${after}`,
      })),
  );
}

/** The stores agree on the version that was published last, and nothing waits. */
export function checkStores({ truth, kv, r2 }: StoredState): Violation[] {
  const violations: Violation[] = [];
  const current = truth.manifests.at(-1) ?? null;
  const newest = current?.generation;
  if (!isDeepStrictEqual(kv, current))
    violations.push({ invariant: "KV", what: `shows ${kv?.generation} instead of ${newest}` });
  if (!isDeepStrictEqual(r2, current))
    violations.push({ invariant: "R2", what: `shows ${r2?.generation} instead of ${newest}` });
  if (!truth.isReplicated) violations.push({ invariant: "KV", what: "is not replicated" });
  if (truth.outbox + truth.auditOutbox > 0)
    violations.push({
      invariant: "D1",
      what: `${truth.outbox} rows and ${truth.auditOutbox} audit entries wait`,
    });
  return violations;
}
