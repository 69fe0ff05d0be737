import type { LocaleNames } from "./names.ts";

const percent = (share: number): string => `${(share * 100).toFixed(1).padStart(7)} %`;

/**
 * The share of airports, all and those with scheduled service, whose subdivision or travel region has
 * a name of the locale's own, and of the macro-regions and travel regions that have one; the rest is English there.
 * The best covered locale comes first.
 */
export function coverageTable(locales: readonly LocaleNames[]): string {
  const rows = locales
    .toSorted((a, b) => b.coverage - a.coverage)
    .map(({ locale, coverage, scheduledCoverage, travelCoverage }) => {
      const shares = [coverage, scheduledCoverage, travelCoverage].map(percent).join("    ");
      return `${locale.padEnd(9)}${shares}`;
    });
  return ["locale         all    scheduled    macro and travel", ...rows].join("\n");
}
