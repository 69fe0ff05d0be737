/** The rows of upstream's files that no catalog is built from. */
import { asEvidence } from "../catalog/evidence.ts";
import { SourceError } from "./source-error.ts";

export type RejectReason =
  | "missing_required"
  | "bad_iata"
  | "bad_text"
  | "bad_coordinates"
  | "unknown_country"
  | "type_excluded"
  | "duplicate_iata"
  | "duplicate_id"
  | "duplicate_region"
  | "column_count"
  | "bad_scheduled_service";

export interface Reject {
  readonly reason: RejectReason;
  /** Line of the file. */
  readonly line: number;
  /** IATA code as written; shortened to 40 characters, like the id. */
  readonly iata: string;
  readonly id: string;
}

/** Most rejected rows in memory: several times the number of airports. */
export const REJECTS_MAX = 50_000;

/** Builds a reject with shortened texts, which may be as long as a row. */
export function reject(
  reason: RejectReason,
  { line, iata, id }: { line: number; iata: string; id: string },
): Reject {
  return { reason, line, iata: asEvidence(iata), id: asEvidence(id) };
}

export function tooManyRejects(file: string, line: number): SourceError {
  return new SourceError(
    "malformed_csv",
    `${file} has over ${REJECTS_MAX} unusable rows up to line ${line}; check that it is the right file`,
  );
}
