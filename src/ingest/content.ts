import { sha256Hex } from "../catalog/hash.ts";
import { checkCatalog, checkNames, type Violation } from "../catalog/integrity.ts";
import type { LocaleEntry } from "../catalog/manifest.ts";
import type { Catalog, RegionNames } from "../catalog/model.ts";
import { RunFault } from "./faults.ts";
import type { Workspace } from "./workspace.ts";

/** What a catalog says in each locale, before any of it is compressed. */
export interface Content {
  /** SHA-256 (hex) over every locale and its message's hash. */
  readonly catalogSha256: string;
  readonly messages: { readonly [locale: string]: Message };
}

type Message = Pick<LocaleEntry, "sha256" | "bytes" | "coverage">;

/** gRPC clients refuse messages over 4 MiB by default; this leaves room to grow after a warning. */
const MESSAGE_MAX_BYTES = 3.5 * 1024 * 1024;
/** Broken rules that an error names. */
const VIOLATIONS_NAMED = 5;

/**
 * Encodes the message of every locale, and hashes it.
 *
 * @throws RunFault `guard_integrity` where the contract is broken, `guard_message_size`.
 */
export async function describeContent(
  workspace: Workspace,
  locales: readonly string[],
): Promise<Content> {
  refuse(checkCatalog(workspace.catalog), "the catalog");
  const messages: { [locale: string]: Message } = {};
  for (const locale of locales) messages[locale] = await describeMessage(workspace, locale);
  const hashes = locales.map((locale) => `${locale} ${messages[locale]?.sha256}\n`);
  return { catalogSha256: sha256Hex(...hashes), messages };
}

async function describeMessage(workspace: Workspace, locale: string): Promise<Message> {
  const { catalog, common } = workspace;
  const { names, encoded } = await workspace.local(locale);
  refuse(checkNames(catalog.regions, names), locale);
  const bytes = common.proto.length + encoded.proto.length;
  if (bytes > MESSAGE_MAX_BYTES)
    throw new RunFault(
      "guard_message_size",
      `the message in ${locale} has ${bytes} bytes, over ${MESSAGE_MAX_BYTES}: gRPC clients would refuse it`,
    );
  const sha256 = sha256Hex(common.proto, encoded.proto);
  return { sha256, bytes, coverage: coverage(catalog, names) };
}

function refuse(violations: readonly Violation[], what: string): void {
  if (violations.length === 0) return;
  const named = violations
    .slice(0, VIOLATIONS_NAMED)
    .map(({ rule, entity }) => `${rule}: ${entity}`);
  throw new RunFault("guard_integrity", `${what} breaks the contract: ${named.join("; ")}`);
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
