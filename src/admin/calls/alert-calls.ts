import type {
  EvaluationRequest,
  EvaluationResult,
  MonitorStatus,
  TestResult,
} from "../../alerts/monitor.ts";
import { withDeadline } from "../../storage/deadline.ts";

/** The calls of the alert monitor that routes make. Each rejects with MonitorUnavailable. */
export interface AlertUseCases {
  evaluate(asked: EvaluationRequest): Promise<EvaluationResult>;
  test(target: string | null, by: string): Promise<TestResult>;
  status(): Promise<MonitorStatus>;
}

/** The alert monitor could not be reached, or did not answer in time. */
export class MonitorUnavailable extends Error {
  override readonly name = "MonitorUnavailable";
  readonly retryAfterSeconds = 10;
}

/** An evaluation waits for the previous one, for its inputs and for the webhooks. */
const EVALUATION_DEADLINE_MS = 90_000;
const TEST_DEADLINE_MS = 30_000;
const STATUS_DEADLINE_MS = 5_000;

/** Calls the monitor, each time through a new stub: a stub whose object was reset stays broken. */
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
