import { readFileSync, writeFileSync } from "node:fs";
import { gunzipSync } from "node:zlib";
import { gzip } from "./gzip.ts";
import type { Author, LocaleNames } from "./names.ts";
import { compareCodeUnits } from "./text.ts";
import type { Witness } from "./witnesses.ts";

/** The region keys that each witness speaks for, by locale. */
export type Verdicts = Readonly<
  Record<string, Partial<Readonly<Record<Witness | Author, readonly string[]>>>>
>;

const FILE = new URL("../witnesses.json.gz", import.meta.url);

/** Writes `data/witnesses.json.gz`: what says of each name of the snapshot that it is the region's. */
export function writeVerdicts(locales: readonly LocaleNames[]): void {
  const verdicts = locales.map(({ locale, witnesses }) => {
    const keys = [...witnesses.keys()].toSorted(compareCodeUnits);
    return [locale, Object.groupBy(keys, (key) => witnesses.get(key) ?? "")];
  });
  writeFileSync(FILE, gzip(JSON.stringify(Object.fromEntries(verdicts))));
}

/** Reads `data/witnesses.json.gz`. */
export function readVerdicts(): Verdicts {
  return JSON.parse(gunzipSync(readFileSync(FILE)).toString()) as Verdicts;
}

/** How many names of a locale each witness speaks for. */
export function verdictTable(locales: readonly LocaleNames[]): string {
  const witnesses = ["vetted", "sound", "city", "locale", "confirmed", "given"];
  const rows = locales.map(({ locale, witnesses: found }) => {
    const counts = Map.groupBy(found.values(), (witness) => witness);
    const cells = witnesses.map((one) =>
      String(counts.get(one as Witness)?.length ?? 0).padStart(one.length + 2),
    );
    return locale.padEnd(9) + cells.join("");
  });
  return [`locale     ${witnesses.join("  ")}`, ...rows].join("\n");
}
