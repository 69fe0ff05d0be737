/** Why upstream bytes cannot be used at all. */
export type SourceFault = "not_utf8" | "missing_columns" | "malformed_csv" | "truncated";

/** Upstream bytes that cannot be used; the message names the file and what is wrong with it. */
export class SourceError extends Error {
  override readonly name = "SourceError";
  readonly fault: SourceFault;

  constructor(fault: SourceFault, message: string) {
    super(message);
    this.fault = fault;
  }
}
