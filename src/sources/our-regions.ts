import { compareText } from "../catalog/integrity.ts";
import {
  type Reject,
  reject,
  REJECTS_MAX,
  type SubdivisionsRead,
  tooManyRejects,
} from "./airport.ts";
import { cleanText, isServable, withoutCapitals } from "./clean-names.ts";
import { readCsv } from "./csv.ts";
import { SourceError } from "./source-error.ts";

/**
 * Largest share of rows of regions.csv with more or fewer values than the header. One such row is
 * always allowed: a handmade file ends with an empty line.
 */
const BROKEN_REGIONS_MAX = 0.02;

/**
 * Reads OurAirports' regions.csv. Skips rows whose length differs from the header's, if there are
 * few. Of rows with the same code it keeps the alphabetically first name, in whatever order they
 * come. It rejects the others, and names that cannot be served.
 *
 * @param wanted codes of the needed regions.
 * @throws SourceError if the whole file is unusable; `malformed_csv` if more than 2 % of the rows
 * have the wrong length.
 */
export async function readSubdivisions(
  bytes: ReadableStream<Uint8Array>,
  wanted: ReadonlySet<string>,
): Promise<SubdivisionsRead> {
  const names = new Map<string, string>();
  const rejects: Reject[] = [];
  let seen = 0;
  let broken = 0;
  for await (const row of readCsv("regions.csv", bytes, ["code", "name"])) {
    seen++;
    if (!row.complete) {
      broken++;
      continue;
    }
    const code = row.get("code");
    const name = withoutCapitals(cleanText(row.get("name")));
    if (!wanted.has(code) || name === "") continue;
    const known = names.get(code);
    const isRefused = !isServable(name);
    if (isRefused || known !== undefined) {
      const reason = isRefused ? "bad_text" : "duplicate_region";
      rejects.push(reject(reason, { line: row.line, iata: "", id: code }));
    }
    if (rejects.length > REJECTS_MAX) throw tooManyRejects("regions.csv", row.line);
    if (isRefused) continue;
    if (known === undefined || compareText(name, known) < 0) names.set(code, name);
  }
  if (broken > Math.max(1, seen * BROKEN_REGIONS_MAX))
    throw new SourceError(
      "malformed_csv",
      `${broken} of ${seen} rows of regions.csv have more or fewer values than its header; check that it is the right file`,
    );
  return { names, rejects };
}
