import { hasElapsed } from "../../src/platform/time.ts";
import type { Answer, AnswersBody } from "./answers.ts";
import { FailureLine } from "./failure-line.tsx";
import { Age, Time, useNow } from "./time.tsx";
import type { Polled } from "./use-poll.ts";

/** Answers that are older than this may be wrong: they are shown in grey. */
const OLD_MS = 60_000;

const QUESTIONS: { readonly [Q in Answer["question"]]: string } = {
  served: "Is it served?",
  fresh: "Is it fresh?",
  failed: "What failed, and what do I do?",
  changed: "Who changed what?",
  next: "What happens next?",
};

const TONES = { pass: "good", warn: "warn", fail: "bad" } as const;

interface Props {
  readonly polled: Polled<AnswersBody>;
  /** Whether the sections of the page are there, to which some links lead. */
  readonly isSignedIn: boolean;
}

/**
 * Shows how the service answers the five questions of an operator. The page judges nothing; it only
 * greys out answers that are old, or that the service no longer repeats.
 */
export function Glance({ polled, isSignedIn }: Props) {
  const { body, receivedAt, failure } = polled;
  const now = useNow();
  const isOld = failure !== undefined || hasElapsed(receivedAt, OLD_MS, now);
  const answers = body?.answers ?? [];
  const isNext = ({ question }: Answer) => question === "next";
  const inOrder = answers.toSorted((a, b) => Number(hasFailed(b)) - Number(hasFailed(a)));
  const showCard = (answer: Answer) => (
    <Card key={answer.question} answer={answer} isOld={isOld} isSignedIn={isSignedIn} />
  );
  return (
    <section class="stack" aria-label="At a glance">
      <FailureLine polled={polled} what="summary" />
      <div class="cards">{inOrder.filter((answer) => !isNext(answer)).map(showCard)}</div>
      {answers.filter(isNext).map(showCard)}
    </section>
  );
}

/** Whether it says that something has failed: this comes first, because not all fits on a phone. */
function hasFailed({ question, status }: Answer): boolean {
  return question === "failed" && status !== "pass";
}

function hasSeveralProblems(answer: Answer): boolean {
  return hasFailed(answer) && answer.details.length > 1;
}

interface CardProps {
  readonly answer: Answer;
  readonly isOld: boolean;
  readonly isSignedIn: boolean;
}

function Card({ answer, isOld, isSignedIn }: CardProps) {
  const question = QUESTIONS[answer.question];
  const width = hasSeveralProblems(answer) ? "card-wide" : "";
  const tone = `tone-${isOld ? "quiet" : TONES[answer.status]}`;
  const leadsSomewhere = ({ href }: { readonly href: string }) =>
    isSignedIn || !href.startsWith("#");
  return (
    <div
      class={`panel card card-${answer.question} ${width} ${tone}`}
      data-card={question}
      data-status={answer.status}
    >
      <h2>{question}</h2>
      <p class="card-value">{answer.answer}</p>
      <ul class="card-note">
        {answer.details.map(({ text, at, links }, index) => (
          <li key={index}>
            {text} {at && <Time at={at} />}
            {links.filter(leadsSomewhere).map((link) => (
              <span key={link.href}>
                {" "}
                <a href={link.href}>{link.text}</a>
              </span>
            ))}
          </li>
        ))}
      </ul>
      <p class="card-judged">
        {isOld ? "Not up to date. Judged" : "Judged"} <Age at={answer.at} />
      </p>
    </div>
  );
}
