import type { AlertUseCases } from "../../src/admin/calls/alert-calls.ts";
import type {
  EvaluationRequest,
  EvaluationResult,
  MonitorStatus,
  TestResult,
} from "../../src/alerts/monitor.ts";
import { anAlertRun } from "./alert-run.ts";

/** A monitor that records what it is asked, and answers as it is told. */
export class FakeAlerts implements AlertUseCases {
  readonly asked: EvaluationRequest[] = [];
  readonly tested: { readonly target: string | null; readonly by: string }[] = [];
  evaluation: EvaluationResult = { ok: true, run: anAlertRun({ trigger: "manual" }) };
  testResult: TestResult = { ok: true, receipts: [] };
  current: MonitorStatus = {
    problem: null,
    lastRun: anAlertRun({ started_at: "2026-11-01T04:58:00.000Z" }),
    lastTickAt: "2026-11-01T04:58:00.000Z",
    outboxLength: 0,
    targets: [{ name: "ops", kind: "slack", failures: 0, lastError: null, lastDeliveredAt: null }],
  };
  /** What every call throws instead of answering. */
  fault: Error | null = null;

  async evaluate(asked: EvaluationRequest): Promise<EvaluationResult> {
    this.asked.push(asked);
    return this.#answer(this.evaluation);
  }

  async test(target: string | null, by: string): Promise<TestResult> {
    this.tested.push({ target, by });
    return this.#answer(this.testResult);
  }

  async status(): Promise<MonitorStatus> {
    return this.#answer(this.current);
  }

  #answer<T>(value: T): T {
    if (this.fault !== null) throw this.fault;
    return value;
  }
}
