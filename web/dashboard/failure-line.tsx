import type { Polled } from "./use-poll.ts";

interface Props {
  readonly polled: Pick<Polled<unknown>, "body" | "failure">;
  /** Text for a deployment without this route. */
  readonly what: string;
}

/** Says that a document is loading, or why it is missing or outdated. */
export function FailureLine({ polled: { body, failure }, what }: Props) {
  if (failure === undefined) return body === undefined ? <p role="status">Loading …</p> : null;
  const isUnknown = failure.kind === "missing" && failure.code === "not_found";
  const text = isUnknown ? `This deployment has no ${what}.` : failure.message;
  return (
    <p class="notice notice-warn" role="status">
      {text}
      {body !== undefined && " Below is the last known state."}
      {failure.requestId !== "" && <small class="request-id"> Request {failure.requestId}</small>}
    </p>
  );
}
