import { useEffect, useState } from "preact/hooks";
import { isRecent } from "../../src/platform/time.ts";
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
  const isPhone = useIsPhone();
  const isOld = failure !== undefined || !isRecent(receivedAt, OLD_MS, now);
  const answers = body?.answers ?? [];
  const isNext = ({ question }: Answer) => question === "next";
  const inOrder = answers.toSorted((a, b) => Number(hasFailed(b)) - Number(hasFailed(a)));
  const showCard = (answer: Answer) => (
    <Card key={answer.question} {...{ answer, isOld, isPhone, isSignedIn }} />
  );
  return (
    <section class="stack glance" aria-label="At a glance">
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
  readonly isPhone: boolean;
  readonly isSignedIn: boolean;
}

/** Problems that a phone shows at once, so that the sections stay in sight. */
const SHOWN_ON_PHONE = 2;

/** One answer. On a phone it is a line that opens, unless something is wrong. */
function Card({ answer, isOld, isPhone, isSignedIn }: CardProps) {
  const question = QUESTIONS[answer.question];
  const width = hasSeveralProblems(answer) ? "card-wide" : "";
  const tone = `tone-${isOld ? "quiet" : TONES[answer.status]}`;
  const attributes = {
    class: `panel card card-${answer.question} ${width} ${tone}`,
    "data-card": question,
    "data-status": answer.status,
  };
  const heading = (
    <>
      <h2>{question}</h2>
      <p class="card-value">{answer.answer}</p>
    </>
  );
  const judged = (
    <p class="card-judged">
      {isOld ? "Not up to date. Judged" : "Judged"} <Age at={answer.at} />
    </p>
  );
  const notes = (details: Answer["details"]) => <Notes {...{ details, isSignedIn }} />;
  if (isPhone && !hasFailed(answer))
    return (
      <details {...attributes}>
        <summary>{heading}</summary>
        {notes(answer.details)}
        {judged}
      </details>
    );
  const shown = isPhone ? SHOWN_ON_PHONE : answer.details.length;
  const others = answer.details.slice(shown);
  return (
    <div {...attributes}>
      {heading}
      {notes(answer.details.slice(0, shown))}
      {others.length > 0 && (
        <details>
          <summary>{others.length} more</summary>
          {notes(others)}
        </details>
      )}
      {judged}
    </div>
  );
}

interface NotesProps extends Pick<Props, "isSignedIn"> {
  readonly details: Answer["details"];
}

function Notes({ details, isSignedIn }: NotesProps) {
  const leadsSomewhere = ({ href }: { readonly href: string }) =>
    isSignedIn || !href.startsWith("#");
  return (
    <ul class="card-note">
      {details.map(({ text, at, links }, index) => (
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
  );
}

/** Whether the window is as narrow as a phone, as the style sheet has it. */
function useIsPhone(): boolean {
  const [query] = useState(() => window.matchMedia("(max-width: 560px)"));
  const [isPhone, setPhone] = useState(query.matches);
  useEffect(() => {
    const onChange = () => setPhone(query.matches);
    query.addEventListener("change", onChange);
    return () => query.removeEventListener("change", onChange);
  }, []);
  return isPhone;
}
