import { describeDuration } from "./durations.ts";
import { type EndedRun, type Facts, newestPublished, type Published } from "./facts.ts";
import { type Finding, measured, type Rule, type RuleContext, unknown } from "./rule.ts";

/** Two ticks, whose distance varies by seconds: what one tick alone sees may be KV's lag. */
const TWO_TICKS_MS = 4 * 60_000;
/** Damaged copies that evidence names. */
const COPIES_NAMED = 5;

/** The content has not been compared with upstream for too long, or there is none. */
export const catalogStale: Rule = {
  name: "catalog_stale",
  severity: "fail",
  forMs: 0,
  evaluate: (facts, context) => [findStale(facts, context)],
};

function findStale({ catalog, ingest }: Facts, { now, thresholds }: RuleContext): Finding {
  const threshold = thresholds.catalogStaleMs;
  const unit = "ms";
  const published = newestPublished(catalog);
  const pausedMs =
    ingest.ok && ingest.value.pause !== null ? now - Date.parse(ingest.value.pause.at) : null;
  const suppressed = pausedMs !== null && pausedMs < thresholds.ingestPausedMs;
  if (published === undefined) {
    const faults = [catalog.kv, catalog.r2].filter((copy) => copy.state !== "present");
    const unread = faults.find(({ state }) => state !== "missing");
    if (unread !== undefined) return unknown(unread.detail, { threshold, unit, suppressed });
    const message = "Nothing is published.";
    return measured({ value: null, threshold, unit, message, suppressed });
  }
  if (!ingest.ok) return unknown(ingest.why, { threshold, unit, suppressed });
  const checked = lastSuccess(ingest.value.ended);
  // A rollback and a restore publish as well, and compare nothing.
  const comparedAt = checked?.finishedAt ?? published.publishedAt;
  const value = Math.max(0, now - Date.parse(comparedAt));
  return measured({
    value,
    threshold,
    unit,
    message: `The catalog was last compared with upstream ${describeDuration(value)} ago.`,
    evidence: {
      generation: published.generation,
      published_at: published.publishedAt,
      last_success_at: checked?.finishedAt ?? null,
      last_success_run_id: checked?.id ?? null,
    },
    suppressed,
  });
}

/** The newest run that published, or found that nothing has changed. */
function lastSuccess(ended: readonly EndedRun[]): EndedRun | undefined {
  return ended.find(({ state, mode }) => state === "succeeded" && mode !== "dry_run");
}

/** A store holds something else than what was published. */
export const integrityMismatch: Rule = {
  name: "integrity_mismatch",
  severity: "fail",
  forMs: TWO_TICKS_MS,
  evaluate: (facts) => [findMismatch(facts)],
};

function findMismatch({ catalog, copies, ingest }: Facts): Finding {
  const expected =
    ingest.ok && ingest.value.replicated ? (ingest.value.current?.generation ?? null) : null;
  const manifests = manifestFaults(catalog, expected);
  const value = manifests.length + copies.damaged.length;
  const measurement = { threshold: 1, unit: "copies" } as const;
  const unread = [catalog.kv, catalog.r2]
    .flatMap((copy) => (copy.state === "unreadable" ? [copy.detail] : []))
    .concat(copies.unreadable)[0];
  if (value === 0 && unread !== undefined) return unknown(unread, measurement);
  const { locale, checked } = copies;
  return measured({
    ...measurement,
    value,
    message:
      value === 0
        ? `${checked} copies have the bytes that were published.`
        : `${value} copies are not what was published: ${[...manifests, ...copies.damaged.map(describeCopy)].slice(0, COPIES_NAMED).join("; ")}.`,
    evidence: {
      locale,
      checked,
      manifests,
      damaged: copies.damaged.slice(0, COPIES_NAMED).map((copy) => ({ ...copy })),
    },
  });
}

function describeCopy({ replica, sha256, fault }: Facts["copies"]["damaged"][number]): string {
  return `${replica} blob ${sha256} is ${fault}`;
}

/** What is wrong with the manifests; `expected` is the published generation, null if not known. */
function manifestFaults({ kv, r2 }: Facts["catalog"], expected: number | null): string[] {
  const newest = newestPublished({ kv, r2 });
  const generation = expected ?? newest?.generation ?? null;
  if (generation === null) return [kv, r2].flatMap(corruption);
  return (["kv", "r2"] as const).flatMap((replica) => {
    const copy = replica === "kv" ? kv : r2;
    if (copy.state === "unreadable") return [];
    if (copy.state !== "present") return [`${replica} manifest is ${copy.state}`];
    const shown = copy.published.generation;
    // A newer one was published between two reads.
    return shown >= generation
      ? []
      : [`${replica} manifest shows generation ${shown} instead of ${generation}`];
  });
}

function corruption(copy: Facts["catalog"]["kv"]): string[] {
  return copy.state === "corrupt" ? [copy.detail] : [];
}

/** A locale names fewer places than in a version that can be rolled back to. */
export const coverageDrop: Rule = {
  name: "coverage_drop",
  severity: "warn",
  forMs: 0,
  evaluate: (facts, context) => [findDrop(facts, context)],
};

function findDrop({ catalog, ingest }: Facts, { thresholds }: RuleContext): Finding {
  const measurement = { threshold: thresholds.coverageDropPoints, unit: "points" } as const;
  if (!ingest.ok) return unknown(ingest.why, measurement);
  const published = newestPublished(catalog);
  if (published === undefined) {
    const unread = [catalog.kv, catalog.r2].find(
      ({ state }) => state === "unreadable" || state === "corrupt",
    );
    if (unread !== undefined && unread.state !== "present")
      return unknown(unread.detail, measurement);
    return measured({ ...measurement, value: 0, message: "Nothing is published." });
  }
  const drops = dropsOf(published, ingest.value.bestCoverage);
  const value = drops[0]?.points ?? 0;
  return measured({
    ...measurement,
    value,
    message:
      value === 0
        ? "No locale has lost coverage."
        : `The locale ${drops[0]?.locale} has lost ${value} points of coverage.`,
    evidence: { generation: published.generation, drops: drops.slice(0, COPIES_NAMED) },
  });
}

/** Locales that had more coverage before, the greatest loss first; one taken out is no loss. */
function dropsOf({ coverage }: Published, best: { readonly [locale: string]: number }) {
  return Object.entries(coverage)
    .map(([locale, now]) => {
      const before = best[locale] ?? now;
      return { locale, before, now, points: Math.round((before - now) * 1000) / 10 };
    })
    .filter(({ points }) => points > 0)
    .toSorted((a, b) => b.points - a.points);
}
