import { Code } from "@connectrpc/connect";
import { useEffect, useState } from "preact/hooks";
import type { Answer } from "../../admin/health/health-schema.ts";

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
  const firstRun = useFirstRun(code === Code.Unavailable && answered);
  return (
    <div class="notice notice-bad" role="alert">
      <h2>{title}</h2>
      {retryAfterSeconds === null ? (
        <p>{advice}</p>
      ) : (
        <p>
          {firstRun ?? advice} <Countdown failure={failure} onEnd={onRetry} />
        </p>
      )}
      <p class="notice-detail">
        <code>{Code[code].replaceAll(/(?<=[a-z])[A-Z]/g, "_$&").toLowerCase()}</code> {message}
      </p>
      <button type="button" class="button" onClick={onRetry}>
        Call again
      </button>
    </div>
  );
}

const SECOND_MS = 1_000;

interface CountdownProps {
  readonly failure: CallFailure;
  readonly onEnd: () => void;
}

/** Counts down to the next call after each failure. */
function Countdown({ failure, onEnd }: CountdownProps) {
  const [left, setLeft] = useState(failure.retryAfterSeconds ?? 0);
  useEffect(() => {
    const until = Date.now() + (failure.retryAfterSeconds ?? 0) * SECOND_MS;
    const timer = setInterval(() => {
      const seconds = Math.max(0, Math.ceil((until - Date.now()) / SECOND_MS));
      setLeft(seconds);
      if (seconds > 0) return;
      clearInterval(timer);
      onEnd();
    }, SECOND_MS);
    return () => clearInterval(timer);
  }, [failure]);
  // The notice is read out once, and not each second.
  return <span aria-live="off">It calls again in {left} s.</span>;
}

const SUMMARY_EVERY_MS = 2_000;

/** Asks how far the run is that publishes for the first time; undefined if there is none. */
function useFirstRun(isWanted: boolean): string | undefined {
  const [text, setText] = useState<string>();
  useEffect(() => {
    if (!isWanted) return undefined;
    const left = new AbortController();
    const ask = async () => {
      const answer = await fetch("/dashboard/summary", { signal: left.signal });
      const { answers }: { readonly answers: readonly Answer[] } = await answer.json();
      const served = answers.find(({ question }) => question === "served");
      setText(served?.answer === "Not yet" ? served.details[0]?.text : undefined);
    };
    const askAgain = () => void ask().catch(() => setText(undefined));
    askAgain();
    const timer = setInterval(askAgain, SUMMARY_EVERY_MS);
    return () => {
      left.abort();
      clearInterval(timer);
    };
  }, [isWanted]);
  return text && `${text.slice(0, 1).toUpperCase()}${text.slice(1)}.`;
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
