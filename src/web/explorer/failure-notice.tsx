import { Code } from "@connectrpc/connect";
import { adviceFor } from "./advice.ts";
import type { CallFailure } from "./call.ts";

interface Props {
  readonly failure: CallFailure;
  readonly onRetry: () => void;
}

/** Formats a code in Connect's notation, such as `invalid_argument`. */
function codeWord(code: Code): string {
  return Code[code].replaceAll(/(?<=[a-z])[A-Z]/g, "_$&").toLowerCase();
}

/** Shows a failure, the service's message and advice. */
export function FailureNotice({ failure, onRetry }: Props) {
  const { title, whatToDo } = adviceFor(failure);
  return (
    <div class="notice notice-bad" role="alert">
      <h2>{title}</h2>
      <p>{whatToDo}</p>
      <p class="notice-detail">
        <code>{codeWord(failure.code)}</code> {failure.message}
      </p>
      <button type="button" class="button" onClick={onRetry}>
        Call again
      </button>
    </div>
  );
}
