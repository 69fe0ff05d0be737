import { Code } from "@connectrpc/connect";

/** Why a call failed. */
export interface CallFailure {
  readonly code: Code;
  /** Message of the service or the browser. */
  readonly message: string;
  /** From the header Retry-After. */
  readonly retryAfterSeconds: number | null;
  /** False if no answer came. */
  readonly answered: boolean;
}

interface Props {
  readonly failure: CallFailure;
  readonly onRetry: () => void;
}

/** Shows a failure, advice, and the service's message. */
export function FailureNotice({ failure, onRetry }: Props) {
  const { code, message, retryAfterSeconds, answered } = failure;
  const [title, advice] =
    (answered || code === Code.InvalidArgument ? ADVICE[code] : NO_ANSWER) ?? UNEXPECTED;
  return (
    <div class="notice notice-bad" role="alert">
      <h2>{title}</h2>
      <p>
        {retryAfterSeconds !== null && `Call again in ${retryAfterSeconds} s. `}
        {advice}
      </p>
      <p class="notice-detail">
        <code>{Code[code].replaceAll(/(?<=[a-z])[A-Z]/g, "_$&").toLowerCase()}</code> {message}
      </p>
      <button type="button" class="button" onClick={onRetry}>
        Call again
      </button>
    </div>
  );
}

type Advice = readonly [title: string, whatToDo: string];

const NO_ANSWER: Advice = ["No answer from the service", "Check the connection, then call again."];

const UNEXPECTED: Advice = [
  "The call failed",
  "Call again. If it fails again, give the operator the code and the time: the service’s log has the cause.",
];

const ADVICE: { readonly [code in Code]?: Advice } = {
  [Code.InvalidArgument]: [
    "The service does not accept this language",
    "Choose a language from the list, or use a tag such as de, pt-BR or zh-Hant.",
  ],
  [Code.Unavailable]: [
    "The service has nothing to serve right now",
    "On a new installation, queue the first ingest on the dashboard.",
  ],
  [Code.DataLoss]: [
    "The published catalog is damaged",
    "Tell the operator: a full ingest from the dashboard replaces it.",
  ],
};
