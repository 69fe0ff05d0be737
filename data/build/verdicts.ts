import { readFileSync, writeFileSync } from "node:fs";
import { gunzipSync } from "node:zlib";
import { gzip } from "./gzip.ts";
import type { Author, LocaleNames } from "./names.ts";
import { readManifest } from "./snapshot-reader.ts";
import { compareCodeUnits } from "./text.ts";
import type { Witness } from "./witnesses.ts";

/** The letters of the witnesses in `data/witnesses.json.gz`. */
export const WITNESS_LETTERS: Readonly<Record<Witness | Author, string>> = {
  vetted: "v",
  sound: "s",
  city: "c",
  locale: "l",
  confirmed: "f",
  given: "g",
  english: "e",
};

/** What `data/witnesses.json.gz` has of a locale. */
export interface Verdicts {
  /** SHA-256 of the uncompressed names that were judged, as in the manifest. */
  readonly names: string;
  /** A letter for each name, in the order of `names/<locale>.json.gz`. */
  readonly witnesses: string;
}

const FILE = new URL("../witnesses.json.gz", import.meta.url);

/** Writes `data/witnesses.json.gz`: what says of each name of the written snapshot that it is the region's. */
export function writeVerdicts(locales: readonly LocaleNames[]): void {
  const { files } = readManifest();
  const verdicts = locales.map(({ locale, witnesses }): [string, Verdicts] => {
    const rows = [...witnesses].toSorted(([a], [b]) => compareCodeUnits(a, b));
    return [
      locale,
      {
        names: files[`names/${locale}.json.gz`]?.content_sha256 ?? "",
        witnesses: rows.map(([, witness]) => WITNESS_LETTERS[witness]).join(""),
      },
    ];
  });
  writeFileSync(FILE, gzip(JSON.stringify(Object.fromEntries(verdicts))));
}

/** Reads `data/witnesses.json.gz`, by locale. */
export function readVerdicts(): Readonly<Record<string, Verdicts>> {
  return JSON.parse(gunzipSync(readFileSync(FILE)).toString()) as Readonly<
    Record<string, Verdicts>
  >;
}

/** How many names of each locale a witness speaks for. */
export function verdictTable(locales: readonly LocaleNames[]): string {
  const columns = ["vetted", "sound", "city", "locale", "confirmed", "given"] as const;
  const rows = locales.map(({ locale, witnesses }) => {
    const counts = Map.groupBy(witnesses.values(), (witness) => witness);
    const cells = columns.map((one) =>
      String(counts.get(one)?.length ?? 0).padStart(one.length + 2),
    );
    return locale.padEnd(9) + cells.join("");
  });
  return [`locale     ${columns.join("  ")}`, ...rows].join("\n");
}
