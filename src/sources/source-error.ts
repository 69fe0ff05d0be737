import type { DurationMs } from "../platform/units.ts";

/** Transient faults: a retry may succeed. */
export const TRANSIENT_FAULTS = ["unreachable", "http_status", "deadline", "broken_off"] as const;
type TransientFault = (typeof TRANSIENT_FAULTS)[number];

export type SourceFault =
  | TransientFault
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

export class TransientSourceError extends SourceError {
  /** Upstream's Retry-After; null if it sent none. */
  readonly retryAfterMs: DurationMs | null;

  constructor(fault: TransientFault, message: string, retryAfterMs: DurationMs | null = null) {
    super(fault, message);
    this.retryAfterMs = retryAfterMs;
  }
}
