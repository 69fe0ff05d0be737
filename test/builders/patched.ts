import { expect } from "vitest";
import type { CatalogDiff } from "../../src/catalog/diff.ts";

interface Entity {
  readonly id: string;
  readonly airport_iata_codes?: unknown;
}

/**
 * Does what an app does that has a version and applies a diff: what `diff` makes of the entities that
 * are all `added` in `whole`, ordered by id.
 */
export function patched(whole: CatalogDiff, diff: CatalogDiff) {
  const lists = ["airports", "cities", "countries", "regions"] as const;
  return Object.fromEntries(
    lists.map((list) => [list, patchedList(whole[list].added, diff[list])]),
  );
}

function patchedList(
  entities: readonly Entity[],
  { added, changed, removed }: CatalogDiff[keyof CatalogDiff],
): Entity[] {
  const byIds = new Map<string, Entity>(entities.map((entity) => [entity.id, entity]));
  for (const { id } of removed) expect(byIds.delete(id)).toBe(true);
  for (const change of changed) {
    const was = byIds.get(change.id);
    expect(was).toMatchObject(change.before);
    const codes = "airport_iata_codes" in change ? change.airport_iata_codes : undefined;
    const had = [was?.airport_iata_codes ?? []].flat().map(String);
    const has = had.filter((code) => codes?.removed.includes(code) !== true);
    byIds.set(change.id, {
      ...was,
      ...change.after,
      id: change.id,
      ...(codes && { airport_iata_codes: [...has, ...codes.added].toSorted() }),
    });
  }
  for (const entity of added) {
    expect(byIds.has(entity.id)).toBe(false);
    byIds.set(entity.id, entity);
  }
  return sortedById([...byIds.values()]);
}

export function sortedById<T extends { readonly id: string }>(entities: readonly T[]): T[] {
  return entities.toSorted((a, b) => (a.id < b.id ? -1 : 1));
}
