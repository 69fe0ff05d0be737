import type {
  EvaluationRequest,
  EvaluationResult,
  MonitorStatus,
  TestResult,
} from "../../alerts/monitor.ts";
import { withDeadline } from "../../storage/deadline.ts";

/** What the routes need of the monitor. Each rejects with MonitorUnavailable. */
export interface AlertUseCases {
  evaluate(asked: EvaluationRequest): Promise<EvaluationResult>;
  test(target: string | null, by: string): Promise<TestResult>;
  status(): Promise<MonitorStatus>;
}

/** The monitor of the alerts could not be reached, or did not answer in time. */
export class MonitorUnavailable extends Error {
  override readonly name = "MonitorUnavailable";
  /** After this time another try is worth it. */
  readonly retryAfterSeconds = 10;
}

/** An evaluation waits for its turn, for every input and for every webhook. */
const EVALUATION_DEADLINE_MS = 90_000;
const TEST_DEADLINE_MS = 30_000;
const STATUS_DEADLINE_MS = 5_000;

/** Calls the monitor. `connect` makes a new stub: one that saw its object reset stays broken. */
export function alertCalls(connect: () => AlertUseCases): AlertUseCases {
  return {
    evaluate: async (asked) => call(EVALUATION_DEADLINE_MS, async () => connect().evaluate(asked)),
    test: async (target, by) => call(TEST_DEADLINE_MS, async () => connect().test(target, by)),
    status: async () =>
      call(STATUS_DEADLINE_MS, async () =>
        connect()
          .status()
          .catch(() => connect().status()),
      ),
  };
}

async function call<T>(deadlineMs: number, work: () => Promise<T>): Promise<T> {
  try {
    return await withDeadline("the alert monitor", deadlineMs, work());
  } catch (cause) {
    throw new MonitorUnavailable("the alert monitor does not answer", { cause });
  }
}
