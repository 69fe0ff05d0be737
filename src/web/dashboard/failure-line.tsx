import type { AdminFailure } from "./admin-client.ts";

interface Props {
  readonly failure: AdminFailure | undefined;
  /** What is missing where the service does not know the route. */
  readonly what: string;
  /** Whether an earlier answer is still shown. */
  readonly hasOlder: boolean;
}

/** Says why a section cannot be shown, or is older than it could be. */
export function FailureLine({ failure, what, hasOlder }: Props) {
  if (failure === undefined) return null;
  const text = failure.kind === "missing" ? `This deployment has no ${what}.` : failure.message;
  return (
    <p class="notice notice-warn" role="status">
      {text}
      {hasOlder && " What follows is the last that was seen."}
      {failure.requestId !== "" && <small class="request-id"> Request {failure.requestId}</small>}
    </p>
  );
}
