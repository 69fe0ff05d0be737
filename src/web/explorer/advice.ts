import { Code } from "@connectrpc/connect";
import type { CallFailure } from "./call.ts";

/** A failure with advice. */
interface Advice {
  readonly title: string;
  readonly whatToDo: string;
}

/** Explains a failed call and its remedy. */
export function adviceFor({ code, answered, retryAfterSeconds }: CallFailure): Advice {
  if (!answered && code !== Code.DeadlineExceeded) return NO_ANSWER;
  const advice = ADVICE[code] ?? UNEXPECTED;
  if (retryAfterSeconds === null) return advice;
  return { ...advice, whatToDo: `Call again in ${retryAfterSeconds} s. ${advice.whatToDo}` };
}

const NO_ANSWER: Advice = {
  title: "No answer from the service",
  whatToDo: "Check the connection, and call again.",
};

const UNEXPECTED: Advice = {
  title: "The call failed",
  whatToDo:
    "Call again. If it stays so, tell the operator the code and the time: the cause is in the service’s log.",
};

const ADVICE: { readonly [code in Code]?: Advice } = {
  [Code.InvalidArgument]: {
    title: "The service does not accept this locale",
    whatToDo: "Choose a language from the list, or type a tag such as de, pt-BR or zh-Hant.",
  },
  [Code.Unavailable]: {
    title: "The service has nothing to serve right now",
    whatToDo: "On a new installation, queue the first ingest on the dashboard.",
  },
  [Code.DeadlineExceeded]: {
    title: "The answer took too long",
    whatToDo: "Check the connection, and call again.",
  },
  [Code.DataLoss]: {
    title: "What is published is damaged",
    whatToDo: "Tell the operator: a full ingest from the dashboard publishes it anew.",
  },
  [Code.ResourceExhausted]: {
    title: "The request is too large",
    whatToDo: "Send a locale and nothing else.",
  },
};
