import { CONTRACT_LIMITS, type ContractLimits } from "../catalog/contract-limits.ts";
import { commonPieces } from "../catalog/encode.ts";
import { asEvidence } from "../catalog/evidence.ts";
import { hashPrefix, sha256Hex } from "../catalog/hash.ts";
import { checkCatalog, checkNames, type Violation } from "../catalog/integrity.ts";
import type { Counts, LocaleEntry } from "../catalog/manifest.ts";
import type { Catalog, RegionNames } from "../catalog/model.ts";
import { countLists } from "./accounting.ts";
import { COMMON_PIECE_BYTES } from "./bodies.ts";
import type { Workspace } from "./workspace.ts";

/** What a catalog says in each locale, before any of it is compressed. */
export interface Content {
  /** SHA-256 (hex) over every locale and its message's hash. */
  readonly catalogSha256: string;
  readonly messages: { readonly [locale: string]: Message };
  readonly counts: Counts;
  /** Length of what is the same in every locale. */
  readonly commonBytes: { readonly proto: number; readonly json: number };
  /** Length that no blob will pass: no coding makes a segment longer than its JSON. */
  readonly largestBlobBytes: number;
  /** The first rules of the contract that it breaks, in any locale. */
  readonly violations: readonly Violation[];
}

type Message = Pick<LocaleEntry, "sha256" | "bytes" | "coverage">;

/** Violations that are kept. */
const VIOLATIONS_KEPT = 50;
/** Length to which an entity is cut that breaks a rule: its kind, its name and the locale. */
const ENTITY_MAX_LENGTH = 80;

/**
 * Encodes the message of every locale, hashes it, and checks it against the contract. Holds one
 * locale's names at a time, and a piece of its message.
 */
export async function describeContent(
  workspace: Workspace,
  locales: readonly string[],
  limits: Pick<ContractLimits, "iata"> = CONTRACT_LIMITS,
): Promise<Content> {
  const { catalog } = workspace;
  const violations = checkCatalog(catalog, VIOLATIONS_KEPT, limits);
  const common = hashPrefix(commonPieces(catalog, "proto"));
  const json = totalLength(commonPieces(catalog, "json"));
  let largestBlobBytes = Math.min(json, COMMON_PIECE_BYTES);
  const messages: { [locale: string]: Message } = {};
  for (const locale of locales) {
    const { names, pieces } = await workspace.local(locale);
    const found = checkNames(catalog.regions, names);
    violations.push(
      ...found.map(({ rule, entity }) => ({ rule, entity: `${entity} in ${locale}` })),
    );
    const message = common.hashWith(pieces("proto"));
    messages[locale] = { ...message, coverage: coverage(catalog, names) };
    largestBlobBytes = Math.max(largestBlobBytes, totalLength(pieces("json")));
  }
  const hashes = locales.map((locale) => `${locale} ${messages[locale]?.sha256}\n`);
  const catalogSha256 = sha256Hex(...hashes);
  return {
    catalogSha256,
    messages,
    counts: countLists(workspace),
    commonBytes: { proto: common.bytes, json },
    largestBlobBytes,
    violations: violations
      .slice(0, VIOLATIONS_KEPT)
      .map(({ rule, entity }) => ({ rule, entity: asEvidence(entity, ENTITY_MAX_LENGTH) })),
  };
}

function totalLength(pieces: Iterable<Uint8Array>): number {
  let length = 0;
  for (const piece of pieces) length += piece.length;
  return length;
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
