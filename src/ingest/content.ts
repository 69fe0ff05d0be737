import { setImmediate as nextTurn } from "node:timers/promises";
import { sharedPieces, localePieces } from "../catalog/encode.ts";
import { asEvidence } from "../catalog/evidence.ts";
import { sha256Hex } from "../catalog/bytes.ts";
import { checkCatalog, checkNames, type Violation } from "../catalog/integrity.ts";
import type { LocaleEntry, Manifest } from "../parts/manifest.ts";
import type { Catalog, Counts, RegionNames } from "../catalog/model.ts";
import { node } from "../platform/node.ts";
import type { Sha256Hex } from "../platform/units.ts";
import { countLists } from "./accounting.ts";
import type { Workspace } from "./workspace.ts";

/** A catalog's message in each locale, before compression. */
export interface Content {
  /** Hash over every locale and its message's hash. */
  readonly catalog_sha256: Sha256Hex;
  readonly messages: { readonly [locale: string]: MessageEntry };
  readonly counts: Counts;
  /** The first violations of the contract, in any locale. */
  readonly violations: readonly Violation[];
}

interface MessageEntry extends Pick<LocaleEntry, "coverage"> {
  readonly sha256: Sha256Hex;
  readonly bytes: number;
}

const VIOLATIONS_KEPT = 50;
/** Longest description of an entity in a violation: its kind, its name and the locale. */
const ENTITY_MAX_LENGTH = 80;

/** Encodes, hashes and checks each locale's message. Keeps the names of one locale in memory at a time. */
export async function describeContent(
  workspace: Workspace,
  locales: readonly string[],
): Promise<Content> {
  const { catalog } = workspace;
  const violations = checkCatalog(catalog, VIOLATIONS_KEPT);
  const shared = [...sharedPieces(catalog, "proto")];
  const messages: { [locale: string]: MessageEntry } = {};
  for (const locale of locales) {
    await nextTurn(); // of other requests
    const names = await workspace.namesIn(locale);
    const found = checkNames(catalog.regions, names);
    violations.push(
      ...found.map(({ rule, entity }) => ({ rule, entity: `${entity} in ${locale}` })),
    );
    const message = [...shared, ...localePieces(catalog.regions, names, "proto")];
    messages[locale] = {
      sha256: sha256Hex(...message),
      bytes: message.reduce((length, piece) => length + piece.length, 0),
      coverage: coverage(catalog, names),
    };
  }
  const hashes = locales.map((locale) => `${locale} ${messages[locale]?.sha256}\n`);
  const catalog_sha256 = sha256Hex(...hashes);
  return {
    catalog_sha256,
    messages,
    counts: countLists(workspace),
    violations: violations
      .slice(0, VIOLATIONS_KEPT)
      .map(({ rule, entity }) => ({ rule, entity: asEvidence(entity, ENTITY_MAX_LENGTH) })),
  };
}

/** Share of airports whose subdivision (or undivided territory) has a name in the locale. */
function coverage(catalog: Catalog, names: RegionNames): number {
  const weigh = (regions: Catalog["regions"]) =>
    regions.reduce((sum, region) => sum + region.airportIataCodes.length, 0);
  const subdivisions = catalog.regions.filter((region) => region.key.startsWith("iso3166-"));
  const total = weigh(subdivisions);
  const named = weigh(subdivisions.filter((region) => names.has(region.key)));
  return total === 0 ? 0 : Math.round((named / total) * 1e4) / 1e4;
}

type Parts = Pick<Manifest, "shared" | "locales">;

/** Whether two versions serve the same bytes, whatever the order in their manifests. */
export function isSameContent(a: Parts, b: Parts): boolean {
  const { isDeepStrictEqual } = node.util;
  return isDeepStrictEqual(a.shared, b.shared) && isDeepStrictEqual(a.locales, b.locales);
}
