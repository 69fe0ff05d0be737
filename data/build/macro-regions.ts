import { readPackageJson } from "./packages.ts";
import { compareCodeUnits } from "./text.ts";

/** A region of the UN M49 tree as CLDR contains it. */
export interface MacroRegion {
  /** Three digits, `150`. */
  readonly code: string;
  /** The countries in it, ISO 3166-1 alpha-2, in code-unit order. */
  readonly countries: readonly string[];
}

interface ContainmentDocument {
  readonly supplemental: {
    readonly territoryContainment: Readonly<
      Record<string, { readonly _contains: readonly string[] }>
    >;
  };
}

const WORLD = "001";
/** North America, Sub-Saharan Africa, Latin America. */
const GROUPINGS = ["003", "202", "419"];
const COUNTRY = /^[A-Z]{2}$/u;
const M49 = /^\d{3}$/u;

/** CLDR's own areas and the territories that ISO 3166-1 does not list: of these only their countries count. */
const NOT_COUNTRIES: ReadonlySet<string> = new Set([
  "QO",
  "EA",
  "IC",
  "AC",
  "CP",
  "CQ",
  "DG",
  "TA",
]);

/**
 * The regions that World divides into, level by level, and World itself.
 * CLDR's groupings that travellers know overlap the tree and are added to it.
 * Antarctica, which M49 puts into no continent, is in World alone, not in CLDR's outlying Oceania.
 */
export function readMacroRegions(): MacroRegion[] {
  const { territoryContainment } = readPackageJson<ContainmentDocument>(
    "cldr-core/supplemental/territoryContainment.json",
  ).supplemental;
  const children = (code: string): readonly string[] => territoryContainment[code]?._contains ?? [];
  const regions: MacroRegion[] = [];

  const countriesOf = (code: string): string[] =>
    children(code).flatMap((child) => {
      if (M49.test(child)) return countriesOf(child);
      return COUNTRY.test(child) && !NOT_COUNTRIES.has(child) ? [child] : [];
    });

  const visit = (code: string): void => {
    const outlying = code === WORLD ? countriesOf("QO") : [];
    regions.push({
      code,
      countries: [...new Set([...countriesOf(code), ...outlying])].toSorted(compareCodeUnits),
    });
    for (const child of children(code)) if (M49.test(child)) visit(child);
  };

  visit(WORLD);
  for (const code of GROUPINGS)
    regions.push({ code, countries: countriesOf(code).toSorted(compareCodeUnits) });
  return regions.toSorted((a, b) => compareCodeUnits(a.code, b.code));
}
