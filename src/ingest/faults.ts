import type { GuardTrip } from "./guards.ts";
import type { Report } from "../schemas/run-report.ts";

/** A permanent fault of a run: a retry cannot help. */
export class RunFault extends Error {
  override readonly name: string = "RunFault";
  readonly code: string;

  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}

/** Guards refuse a candidate. Only an operator's force or new upstream data helps. */
export class GuardsTripped extends RunFault {
  override readonly name = "GuardsTripped";
  /** Fields of the run that describe the candidate: its counts and all tripped guards. */
  readonly verdict: Partial<Report>;

  constructor(refused: readonly GuardTrip[], verdict: Partial<Report>) {
    super(
      refused[0]?.guard ?? "guard",
      refused.map(({ guard, message }) => `${guard}: ${message}`).join("; "),
    );
    this.verdict = verdict;
  }
}
