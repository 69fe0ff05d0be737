import type { AdminFailure } from "./admin-client.ts";

interface Props {
  readonly failure: AdminFailure | undefined;
  /** Text for a deployment without this route. */
  readonly what: string;
  /** Whether the section still shows an earlier answer. */
  readonly hasOlder: boolean;
}

/** Explains why a section is missing or outdated. */
export function FailureLine({ failure, what, hasOlder }: Props) {
  if (failure === undefined) return null;
  const text = failure.kind === "missing" ? `This deployment has no ${what}.` : failure.message;
  return (
    <p class="notice notice-warn" role="status">
      {text}
      {hasOlder && " Below is the last known state."}
      {failure.requestId !== "" && <small class="request-id"> Request {failure.requestId}</small>}
    </p>
  );
}
