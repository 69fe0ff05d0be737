/** Why upstream bytes cannot be had, or cannot be used at all. */
export type SourceFault =
  | "not_utf8"
  | "missing_columns"
  | "malformed_csv"
  | "truncated"
  | "empty"
  | "not_csv"
  | "bad_encoding"
  | "too_large"
  | "unreachable"
  | "http_status"
  | "http_refused"
  | "redirect_refused"
  | "deadline"
  | "changing"
  | "missing_file"
  | "ambiguous_file";

/** Upstream bytes that cannot be used; the message names the file and what is wrong with it. */
export class SourceError extends Error {
  override readonly name = "SourceError";
  readonly fault: SourceFault;

  constructor(fault: SourceFault, message: string) {
    super(message);
    this.fault = fault;
  }
}

/** A fault that may pass, so that the request is worth repeating. */
export class PassingError extends SourceError {
  /** How long upstream asks to be left alone, or null if it does not say. */
  readonly retryAfterMs: number | null;

  constructor(fault: SourceFault, message: string, retryAfterMs: number | null = null) {
    super(fault, message);
    this.retryAfterMs = retryAfterMs;
  }
}
