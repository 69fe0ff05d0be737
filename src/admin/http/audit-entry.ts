import { timeText } from "../../storage/time-text.ts";
import { v7 } from "uuid";
import type { AuditEntry } from "../../storage/audit-store.ts";
import type { Actor } from "./http.ts";
import type { Input } from "./input.ts";
import { type AnyAnswer, statusOf } from "./route.ts";

/** Records what operators change. Never rejects. */
export type RecordChange = (entry: AuditEntry) => Promise<void>;

/** How a request was answered. */
export interface Settled {
  readonly answer: AnyAnswer;
  /** Absent if the request could not be read. */
  readonly input?: Input;
  /** The bug or outage that interrupted the handler. */
  readonly cause?: unknown;
}

/** The operator's request, and the time of its answer in milliseconds since 1970. */
interface Attempt {
  readonly action: string;
  readonly actor: Actor;
  readonly requestId: string;
  readonly at: number;
}

/** The audit entry of an attempt. Its target is the answer's, or else the `id` in the path. */
export function auditEntry(
  { action, actor, requestId, at }: Attempt,
  { answer, input, cause }: Settled,
): AuditEntry {
  const problem = "problem" in answer ? answer.problem : undefined;
  const id = input?.params["id"];
  const refused = cause === undefined ? "refused" : "failed";
  return {
    id: v7(),
    at: timeText(at),
    actor: actor.id,
    action,
    target: answer.change?.target ?? (typeof id === "string" ? id : null),
    outcome: problem === undefined ? "done" : refused,
    status: statusOf(answer),
    code: problem?.code ?? null,
    detail: problem?.detail ?? null,
    request: input?.body ?? null,
    before: answer.change?.before ?? null,
    after: answer.change?.after ?? null,
    requestId,
  };
}
