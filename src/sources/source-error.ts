import type { DurationMs } from "../platform/units.ts";

/** Transient faults: a retry may succeed. */
export const PASSING_FAULTS = ["unreachable", "http_status", "deadline", "broken_off"] as const;
type PassingFault = (typeof PASSING_FAULTS)[number];

export type SourceFault =
  | PassingFault
  | "not_utf8"
  | "missing_columns"
  | "malformed_csv"
  | "truncated"
  | "empty"
  | "not_csv"
  | "bad_encoding"
  | "too_large"
  | "http_refused"
  | "redirect_refused"
  | "missing_file"
  | "bad_date"
  | "ambiguous_file";

/** Unavailable or unusable upstream bytes. The message names the file and the problem. */
export class SourceError extends Error {
  override readonly name = "SourceError";
  readonly fault: SourceFault;

  constructor(fault: SourceFault, message: string) {
    super(message);
    this.fault = fault;
  }
}

export class PassingError extends SourceError {
  /** Upstream's Retry-After; null if it sent none. */
  readonly retryAfterMs: DurationMs | null;

  constructor(fault: PassingFault, message: string, retryAfterMs: DurationMs | null = null) {
    super(fault, message);
    this.retryAfterMs = retryAfterMs;
  }
}
