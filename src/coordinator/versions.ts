/** Published versions and their retention. Pure: no clock, no I/O. */
import type { Manifest } from "../parts/manifest.ts";
import type { Version } from "../schemas/version.ts";

/** Retained number of distinct contents, including the current one. */
export const CONTENTS_RETAINED = 10;
/** Retained number of versions. A content that was published again has several. */
const VERSIONS_RETAINED = 20;

/**
 * Selects the retained generations: the versions of the newest contents, at most
 * `VERSIONS_RETAINED`. The oldest repetitions of a content go first, so that rolling back and forth
 * loses no content.
 *
 * @param versions newest first.
 */
export function retainedVersions(
  versions: readonly Pick<Manifest, "generation" | "catalog_sha256">[],
): number[] {
  const contents = new Set<string>();
  const [newest, repeated]: [number[], number[]] = [[], []];
  for (const { generation, catalog_sha256 } of versions) {
    if (contents.has(catalog_sha256)) repeated.push(generation);
    else if (contents.size < CONTENTS_RETAINED) {
      contents.add(catalog_sha256);
      newest.push(generation);
    }
  }
  return [...newest, ...repeated.slice(0, VERSIONS_RETAINED - newest.length)];
}

/** @param versions all that are retained, newest first. */
export function describeVersion(manifest: Manifest, versions: readonly Manifest[]): Version {
  const [current = manifest] = versions;
  const known = [current, ...current.diffs].map(({ catalog_sha256 }) => catalog_sha256);
  const earlier = versions.find(
    ({ generation, catalog_sha256 }) =>
      generation < manifest.generation && catalog_sha256 === manifest.catalog_sha256,
  );
  return {
    generation: manifest.generation,
    published_at: manifest.published_at,
    catalog_sha256: manifest.catalog_sha256,
    counts: manifest.counts,
    locales: Object.keys(manifest.locales),
    is_current: manifest.generation === current.generation,
    republishes: earlier?.generation ?? null,
    has_diff: known.includes(manifest.catalog_sha256),
  };
}

/** Returns the highest coverage (0 to 1) of each locale in some versions. */
export function bestCoverage(versions: readonly Manifest[]): {
  readonly [locale: string]: number;
} {
  const best = new Map<string, number>();
  for (const { locales } of versions)
    for (const [locale, { coverage }] of Object.entries(locales))
      best.set(locale, Math.max(best.get(locale) ?? 0, coverage));
  return Object.fromEntries(best);
}
