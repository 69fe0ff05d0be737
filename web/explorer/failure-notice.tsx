import { useEffect, useRef, useState } from "preact/hooks";
import type { Answer } from "../../src/schemas/check.ts";
import type { CallFailure } from "./call.ts";

interface Props {
  readonly failure: CallFailure;
  readonly onRetry: () => void;
}

/** Shows a failure, advice, and the service's message. */
export function FailureNotice({ failure, onRetry }: Props) {
  const { code, message, retryAfterSeconds, answered } = failure;
  const preparing = useFirstRun(failure, onRetry);
  const [title, advice] =
    preparing ?? (answered || code === "invalid_argument" ? ADVICE[code] : NO_ANSWER) ?? UNEXPECTED;
  return (
    <div
      class={`notice ${preparing ? "tone-busy" : "notice-bad"}`}
      role="alert"
      lang="en"
      dir="ltr"
    >
      <h2>{title}</h2>
      {retryAfterSeconds === null ? (
        <p>{advice}</p>
      ) : (
        <p>
          {advice} <Countdown failure={failure} onEnd={onRetry} />
        </p>
      )}
      <p class="notice-detail">
        <code>{code}</code> {message}
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
  return <span aria-live="off">This page calls again in {left} s.</span>;
}

const SUMMARY_EVERY_MS = 2_000;

/** The part of `GET /dashboard/summary` that this page reads. */
interface Summary {
  readonly answers: readonly Pick<Answer, "question" | "answer">[];
  readonly ingest?: {
    readonly running: {
      readonly progress: { readonly done: number; readonly total: number };
    } | null;
  } | null;
}

/**
 * Asks how far the run is that publishes for the first time; undefined if there is none. Calls as
 * soon as it has published.
 */
function useFirstRun(failure: CallFailure, onServed: () => void): Advice | undefined {
  const [advice, setAdvice] = useState<Advice>();
  const isPreparing = useRef(false);
  useEffect(() => {
    if (failure.code !== "unavailable" || !failure.answered) return undefined;
    const left = new AbortController();
    const ask = async () => {
      const response = await fetch("/dashboard/summary", { signal: left.signal });
      const { answers, ingest }: Summary = await response.json();
      const served = answers.find(({ question }) => question === "served")?.answer;
      if (served === "Not yet") {
        isPreparing.current = true;
        setAdvice([PREPARING, stepsOf(ingest?.running?.progress)]);
      } else if (served === "Yes" && isPreparing.current) {
        left.abort();
        onServed();
      }
    };
    const askAgain = () => void ask().catch(() => undefined);
    // After a success and another failure, the explorer waits a little.
    if (!isPreparing.current) askAgain();
    const timer = setInterval(() => left.signal.aborted || askAgain(), SUMMARY_EVERY_MS);
    return () => {
      left.abort();
      clearInterval(timer);
    };
  }, [failure]);
  return advice;
}

const PREPARING = "The catalog is being prepared";

function stepsOf(progress: { readonly done: number; readonly total: number } | undefined): string {
  const isKnown = progress !== undefined && progress.total > 0;
  return isKnown ? `${progress.done} of ${progress.total} steps are done.` : "This takes a moment.";
}

type Advice = readonly [title: string, whatToDo: string];

const NO_ANSWER: Advice = ["No answer from the service", "Check the connection, then call again."];

const UNEXPECTED: Advice = [
  "The call failed",
  "Call again. If it fails again, give the operator the code and the time: the service’s log has the cause.",
];

const ADVICE: { readonly [code: string]: Advice } = {
  invalid_argument: [
    "The service does not accept this language",
    "Choose a language from the list, or use a tag such as de, pt-BR or zh-Hant.",
  ],
  unavailable: [
    "There is no catalog right now",
    "If you operate this service, its dashboard says why.",
  ],
  data_loss: [
    "The published catalog is damaged",
    "Tell the operator: a full ingest from the dashboard replaces it.",
  ],
};
