import type { LogLevel } from "../log.ts";
import type { AlertResult, AlertRun, Receipt } from "./alert-run.ts";

export type WriteLog = (
  level: LogLevel,
  event: string,
  fields: { readonly [name: string]: unknown },
) => void;

/** Logs one evaluation or test; each line has its id. */
export class MonitorLog {
  readonly #write: WriteLog;
  readonly #id: string;

  constructor(write: WriteLog, id: string) {
    this.#write = write;
    this.#id = id;
  }

  line(
    event: string,
    fields: { readonly [name: string]: unknown },
    level: LogLevel = "info",
  ): void {
    this.#write(level, event, { alert_run_id: this.#id, ...fields });
  }

  /** Logs a state change of an alert. */
  change({ state, previous_state, ...result }: AlertResult): void {
    if (state === previous_state) return;
    const { rule, fingerprint, severity, message, value, threshold, suppressed } = result;
    this.line("alert_changed", {
      rule,
      fingerprint,
      severity,
      previous_state: previous_state,
      state,
      message,
      value,
      threshold,
      suppressed,
    });
  }

  receipt(event: string, receipt: Receipt, webhookId: string): void {
    const { target, delivered, attempts, status, error, duration_ms } = receipt;
    const webhook_id = webhookId;
    const fields = { target, webhook_id, delivered, attempts, status, error, duration_ms };
    this.line(event, fields, delivered ? "info" : "warn");
  }

  ended(run: AlertRun): void {
    const { worst, firing, fired, resolved, nodata, notified, notify_failed, ping } = run;
    this.line("alerts_ended", {
      worst,
      firing,
      fired,
      resolved,
      nodata,
      notified,
      notify_failed,
      ping,
      duration_ms: run.duration_ms,
    });
  }
}
