/** The reader of an upstream's files, and its unusable rows. */
import { asEvidence } from "../catalog/evidence.ts";
import type {
  AirportsRead,
  KnownAirport,
  Reject,
  SubdivisionsRead,
} from "../catalog/source-airport.ts";
import { SourceError } from "./source-error.ts";

/** Maximum number of rejected rows in memory: several times the number of airports. */
export const REJECTS_MAX = 50_000;

/** Builds a reject with shortened texts, which may be as long as a row. */
export function reject(
  reason: string,
  { line, iata, id }: { line: number; iata: string; id: string },
): Reject {
  return { reason, line, iata: asEvidence(iata), id: asEvidence(id) };
}

/** Builds the fault of a file with more than {@link REJECTS_MAX} unusable rows. */
export function tooManyRejects(file: string, line: number, reasons: Reasons): SourceError {
  return new SourceError(
    "malformed_csv",
    `${file} has over ${REJECTS_MAX} unusable rows up to line ${line}, most often ${nameReasons(reasons)}; check that it is the right file, or fix what these rows have in common`,
  );
}

/** How many rows were rejected for each reason. */
type Reasons = Readonly<Record<string, number>>;

const REASONS_NAMED = 3;

/** Counts rejected rows by reason, the commonest first. */
export function countReasons(rejects: readonly Reject[]): Reasons {
  const groups = [...Map.groupBy(rejects, ({ reason }) => reason)].map(
    ([reason, { length }]) => [reason, length] as const,
  );
  return Object.fromEntries(groups.toSorted(([, a], [, b]) => b - a));
}

/** Names the first reasons of {@link countReasons}, such as `bad_iata 12, bad_text 3`. */
export function nameReasons(reasons: Reasons): string {
  const common = Object.entries(reasons).slice(0, REASONS_NAMED);
  return common.map(([reason, rows]) => `${reason} ${rows}`).join(", ");
}

/** Opens a file of an upstream by its name without `.gz`, decompressed. */
export type OpenFile = (name: string) => Promise<ReadableStream<Uint8Array>>;

/** Reads the files of an upstream. Equal bytes give equal results. */
export interface UpstreamReader {
  /** Names of the files without `.gz`, that of the airports first. */
  readonly files: readonly string[];
  /**
   * @param countries accepted ISO 3166-1 alpha-2 codes.
   * @param known airports of the catalog: of two rows with one code, that airport's row is kept.
   * @throws SourceError if the whole file is unusable.
   */
  readAirports(
    open: OpenFile,
    countries: ReadonlySet<string>,
    known: readonly KnownAirport[],
  ): Promise<AirportsRead>;
  /**
   * @param wanted codes of the needed subdivisions.
   * @throws SourceError if the whole file is unusable.
   */
  readSubdivisions(open: OpenFile, wanted: ReadonlySet<string>): Promise<SubdivisionsRead>;
}
