import type { LocaleNames } from "./names.ts";
import type { Row } from "./snapshot-reader.ts";

/** A localized slug that is another than the published one: a link that breaks. */
export interface ChangedSlug {
  readonly locale: string;
  readonly key: string;
  readonly before: string;
  readonly now: string;
  /** Why: the name has no witness any more, or is another one; undefined if nothing about the name has changed. */
  readonly reason: "no name" | "another name" | undefined;
}

/** The slugs of a locale that differ from the published ones; an empty slug is the base slug. */
export function changedSlugs(
  published: readonly Row[],
  { locale, names }: Pick<LocaleNames, "locale" | "names">,
): ChangedSlug[] {
  const rows = new Map(names.map((row) => [row.key, row]));
  return published.flatMap(({ key = "", name = "", slug: before = "" }): ChangedSlug[] => {
    const found = rows.get(key);
    const now = found?.slug ?? "";
    if (now === before) return [];
    if (found === undefined) return [{ locale, key, before, now, reason: "no name" }];
    const reason = found.name === name ? undefined : "another name";
    return [{ locale, key, before, now, reason }];
  });
}
