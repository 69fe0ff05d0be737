import { shortHash } from "../catalog/bytes.ts";
import { compareLocales } from "../catalog/locale-settings.ts";
import type { Manifest } from "../parts/manifest.ts";
import type { CoordinatorStatus } from "../coordinator/status.ts";
import type { EndedRun } from "../schemas/run.ts";
import { type Finding, evaluateInput, measureAge, type RuleContext, unknown } from "./rule.ts";
import {
  describeFaults,
  type Facts,
  isOther,
  type ManifestCopies,
  newestPublished,
  readPublished,
} from "./facts.ts";

const COPIES_NAMED = 5;
const NOTHING_PUBLISHED = "Nothing is published.";

/** Evaluates the time since the content was compared with upstream. */
export function evaluateStaleness({ catalog, ingest }: Facts, { now }: RuleContext): Finding {
  const published = readPublished(catalog);
  if (!published.ok) return unknown(published.why);
  if (published.value === null) {
    const lost = ingest.ok ? ingest.value.current : null;
    const message =
      lost === null
        ? NOTHING_PUBLISHED
        : `Both stores have lost the manifest of version ${lost.generation}: clients get no catalog.`;
    return { value: null, message };
  }
  const { generation, published_at } = published.value;
  return evaluateInput(ingest, ({ ended, pause }) => {
    // A rollback and a restore also publish, but do not compare with upstream.
    const last_success_at = lastSuccess(ended)?.finished_at ?? null;
    const found = measureAge(
      last_success_at ?? published_at,
      now,
      (age) => `The catalog was last compared with upstream ${age} ago.`,
    );
    // A pause, which has a separate rule, excuses the age, but not a missing catalog.
    const suppressed = pause !== null;
    return { ...found, suppressed, evidence: { generation, last_success_at } };
  });
}

/** Finds the newest run that published or found no change. */
export function lastSuccess(ended: readonly EndedRun[]): EndedRun | undefined {
  return ended.find(({ state, mode }) => state === "succeeded" && mode !== "dry_run");
}

/** Evaluates the age of the airports by their source's date, however recent the publication. */
export function evaluateDataAge(
  { catalog }: Pick<Facts, "catalog">,
  { now }: RuleContext,
): Finding {
  return evaluateInput(readPublished(catalog), (published) => {
    if (published === null) return { value: 0, message: NOTHING_PUBLISHED };
    const { generation, as_of } = published;
    if (as_of === null) return unknown(`generation ${generation} does not say how old its data is`);
    return measureAge(as_of, now, (age) => `The airport data is from ${as_of}, ${age} ago.`);
  });
}

/** Evaluates the number of copies that differ from the published content. */
export function evaluateCopies({ catalog, copies, ingest }: Facts): Finding {
  const expected = ingest.ok && ingest.value.replicated ? ingest.value.current : null;
  const manifests = manifestFaults(catalog, expected);
  const value = manifests.length + copies.damaged.length;
  const [unread] = [...describeFaults(catalog, ["unreadable"]), ...copies.unreadable];
  if (value === 0 && unread !== undefined) return unknown(unread);
  const faults = [
    ...manifests,
    ...copies.damaged.map(
      ({ replica, sha256, fault }) => `${replica} blob ${shortHash(sha256)} is ${fault}`,
    ),
  ].slice(0, COPIES_NAMED);
  const message =
    value === 0
      ? `Nothing that was read differs from what was published; ${copies.checked} copies of blobs were read.`
      : `${value === 1 ? "1 copy is" : `${value} copies are`} not what was published: ${faults.join("; ")}.`;
  const damaged = copies.damaged.slice(0, COPIES_NAMED).map((copy) => ({ ...copy }));
  return { value, message, evidence: { damaged } };
}

/** Evaluates the number of blobs of bodies without an intact copy, for which clients get errors. */
export function evaluateLostBlobs({ catalog, copies }: Pick<Facts, "catalog" | "copies">): Finding {
  const { lost, unreadable } = copies;
  const published = readPublished(catalog);
  const [unread] = published.ok ? unreadable : [published.why];
  if (lost.length === 0 && unread !== undefined) return unknown(unread);
  const count = lost.length === 1 ? "1 blob has" : `${lost.length} blobs have`;
  const message =
    lost.length === 0
      ? "Every blob of a body that was read has an intact copy."
      : `${count} no intact copy: requests for ${lost.length === 1 ? "it" : "them"} fail with data_loss.`;
  return { value: lost.length, message, evidence: { lost: lost.slice(0, COPIES_NAMED) } };
}

/** Lists faults of the manifests. `current` is the published version, null if unknown. */
function manifestFaults(
  { kv, r2 }: ManifestCopies,
  current: CoordinatorStatus["current"],
): string[] {
  const expected = current ?? newestPublished({ kv, r2 });
  if (expected === undefined) return describeFaults({ kv, r2 }, ["corrupt"]);
  const { generation } = expected;
  return Object.entries({ kv, r2 }).flatMap(([replica, copy]) => {
    if (!copy.ok)
      return copy.fault === "unreadable" ? [] : [`${replica} manifest is ${copy.fault}`];
    const shown = copy.value.generation;
    if (isOther(copy.value, expected))
      return [`${replica} manifest is another one of generation ${generation}`];
    if (replica === "kv" && r2.ok && r2.value.generation < shown)
      return [`kv manifest shows generation ${shown}, which R2, written first, does not`];
    // A newer generation was published between two reads.
    return shown >= generation
      ? []
      : [`${replica} manifest shows generation ${shown} instead of ${generation}`];
  });
}

/** Evaluates the largest loss of coverage of a locale, compared with the retained versions. */
export function evaluateCoverage({ catalog, ingest }: Facts): Finding {
  if (!ingest.ok) return unknown(ingest.why);
  return evaluateInput(readPublished(catalog), (published) => {
    if (published === null) return { value: 0, message: NOTHING_PUBLISHED };
    const drops = dropsOf(published, ingest.value.bestCoverage);
    const [worst] = drops;
    const evidence = { drops: drops.slice(0, COPIES_NAMED) };
    if (worst === undefined) return { value: 0, message: "No locale has lost coverage.", evidence };
    const message = `The locale ${worst.locale} has lost ${worst.points} points of coverage.`;
    return { value: worst.points, message, evidence };
  });
}

/** Lists locales that lost coverage, largest loss first. A removed locale is no loss. */
function dropsOf({ locales }: Manifest, best: { readonly [locale: string]: number }) {
  return Object.entries(locales)
    .map(([locale, { coverage: now }]) => {
      const before = best[locale] ?? now;
      return { locale, before, now, points: Math.round((before - now) * 1000) / 10 };
    })
    .filter(({ points }) => points > 0)
    .toSorted((a, b) => b.points - a.points);
}

/** Evaluates whether the published locales are those of the settings. */
export function evaluateLocales({ catalog, ingest }: Pick<Facts, "catalog" | "ingest">): Finding {
  if (!ingest.ok) return unknown(ingest.why);
  const { localeSettings } = ingest.value;
  return evaluateInput(readPublished(catalog), (published) => {
    if (published === null) return { value: 0, message: NOTHING_PUBLISHED };
    const { generation, locales } = published;
    const compared = compareLocales(`Version ${generation}`, locales, localeSettings);
    const { missing, extra, message } = compared;
    return {
      value: missing.length + extra.length,
      message: message || "The published locales are those of LOCALES.",
    };
  });
}
