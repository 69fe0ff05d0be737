/** Published versions and their retention. Pure: no clock, no I/O. */
import { z } from "zod";
import { type DeepReadonly, hexHash, listCounts, timestamp } from "../catalog/fields.ts";
import type { Manifest } from "../catalog/manifest.ts";

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

/** The only schema of a version: the status, the OpenAPI document and the pages follow from it. */
export const versionSchema = z
  .strictObject({
    generation: z.int().min(1),
    published_at: timestamp,
    catalog_sha256: hexHash,
    counts: listCounts,
    locales: z.array(z.string()),
    is_current: z.boolean(),
    republishes: z.int().min(1).nullable().meta({
      description:
        "The earlier generation whose content it publishes again, as a rollback does; null if none that is retained has it.",
    }),
    has_diff: z.boolean().meta({
      description:
        "Whether `GET /catalog/diff` has the changes from its content to the current version.",
    }),
  })
  .meta({ id: "Version", description: "A published version of the catalog." });

/** A version as operators see it. */
export type Version = DeepReadonly<z.output<typeof versionSchema>>;

/**
 * Summarizes a version.
 *
 * @param versions all that are retained, newest first.
 */
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

/** Makes the manifest that publishes an earlier version again under a new generation. */
export function rolledBack(earlier: Manifest, current: Manifest, publishedAt: string): Manifest {
  return {
    ...earlier,
    generation: current.generation + 1,
    previous: current.generation,
    published_at: publishedAt,
  };
}

/** Selects the stored upstream files that neither a retained version nor a later run needs. */
export function unreferencedSources(
  stored: readonly string[],
  retained: readonly Manifest[],
  needed: readonly string[],
): string[] {
  const named = new Set([...needed, ...retained.flatMap(({ sources }) => Object.values(sources))]);
  return stored.filter((sha256) => !named.has(sha256));
}

/** Selects the generations of stored manifests whose versions are not retained. */
export function unretained(stored: readonly number[], retained: readonly Manifest[]): number[] {
  const kept = new Set(retained.map(({ generation }) => generation));
  return stored.filter((generation) => !kept.has(generation));
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
