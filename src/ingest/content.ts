import { sha256Hex } from "../catalog/hash.ts";
import { checkCatalog, checkNames, type Violation } from "../catalog/integrity.ts";
import type { LocaleEntry } from "../catalog/manifest.ts";
import type { Catalog, RegionNames } from "../catalog/model.ts";
import type { Workspace } from "./workspace.ts";

/** What a catalog says in each locale, before any of it is compressed. */
export interface Content {
  /** SHA-256 (hex) over every locale and its message's hash. */
  readonly catalogSha256: string;
  readonly messages: { readonly [locale: string]: Message };
  /** The first rules of the contract that it breaks, in any locale. */
  readonly violations: readonly Violation[];
}

type Message = Pick<LocaleEntry, "sha256" | "bytes" | "coverage">;

/** Violations that are kept. */
const VIOLATIONS_KEPT = 50;

/** Encodes the message of every locale, hashes it, and checks it against the contract. */
export async function describeContent(
  workspace: Workspace,
  locales: readonly string[],
): Promise<Content> {
  const violations = checkCatalog(workspace.catalog);
  const messages: { [locale: string]: Message } = {};
  for (const locale of locales) {
    const { names, encoded } = await workspace.local(locale);
    const found = checkNames(workspace.catalog.regions, names);
    violations.push(
      ...found.map(({ rule, entity }) => ({ rule, entity: `${entity} in ${locale}` })),
    );
    messages[locale] = {
      sha256: sha256Hex(workspace.common.proto, encoded.proto),
      bytes: workspace.common.proto.length + encoded.proto.length,
      coverage: coverage(workspace.catalog, names),
    };
  }
  const hashes = locales.map((locale) => `${locale} ${messages[locale]?.sha256}\n`);
  const catalogSha256 = sha256Hex(...hashes);
  return { catalogSha256, messages, violations: violations.slice(0, VIOLATIONS_KEPT) };
}

/** Share of airports in subdivisions whose subdivision has a name in the locale. */
function coverage(catalog: Catalog, names: RegionNames): number {
  const weigh = (regions: Catalog["regions"]) =>
    regions.reduce((sum, region) => sum + region.airportIataCodes.length, 0);
  const subdivisions = catalog.regions.filter((region) => region.key.startsWith("iso3166-2:"));
  const total = weigh(subdivisions);
  const named = weigh(subdivisions.filter((region) => names.has(region.key)));
  return total === 0 ? 0 : Math.round((named / total) * 1e4) / 1e4;
}
