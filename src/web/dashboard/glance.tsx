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

/**
 * Shows how the service answers the five questions of an operator. The page judges nothing; it only
 * greys out answers that are old, or that the service no longer repeats.
 */
export function Glance({ polled }: { readonly polled: Polled<AnswersBody> }) {
  const { body, receivedAt, failure } = polled;
  const now = useNow();
  const isOld = failure !== undefined || now - receivedAt > OLD_MS;
  const answers = body?.answers ?? [];
  const isNext = ({ question }: Answer) => question === "next";
  return (
    <section class="stack" aria-label="At a glance">
      <FailureLine polled={polled} what="summary" />
      <div class="cards">
        {answers
          .filter((answer) => !isNext(answer))
          .map((answer) => (
            <Card key={answer.question} answer={answer} isOld={isOld} />
          ))}
      </div>
      {answers.filter(isNext).map((answer) => (
        <Card key={answer.question} answer={answer} isOld={isOld} />
      ))}
    </section>
  );
}

function Card({ answer, isOld }: { readonly answer: Answer; readonly isOld: boolean }) {
  const question = QUESTIONS[answer.question];
  return (
    <div
      class={`panel card card-${answer.question} tone-${isOld ? "quiet" : TONES[answer.status]}`}
      data-card={question}
      data-status={answer.status}
    >
      <h2>{question}</h2>
      <p class="card-value">{answer.answer}</p>
      <ul class="card-note">
        {answer.details.map(({ text, at, links }, index) => (
          <li key={index}>
            {text} {at && <Time at={at} />}
            {links.map((link) => (
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
