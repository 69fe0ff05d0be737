import { isRecent } from "../../src/platform/time.ts";
import type { Answer, AnswersBody } from "./answers.ts";
import { FailureLine } from "./failure-line.tsx";
import { StatusPill } from "./status-pill.tsx";
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
 * Shows how the service answers the five questions of an operator. The page only greys out answers that
 * are old, or that the service no longer repeats.
 */
export function Glance({ polled, isSignedIn }: Props) {
  const { body, receivedAt, failure } = polled;
  const now = useNow();
  const isOld = failure !== undefined || !isRecent(receivedAt, OLD_MS, now);
  const answers = body?.answers ?? [];
  const inOrder = answers.toSorted((a, b) => Number(hasFailed(b)) - Number(hasFailed(a)));
  return (
    <section class="stack glance" aria-label="At a glance">
      <FailureLine polled={polled} what="summary" />
      <div class="cards">
        {inOrder.map((answer) => (
          <Card key={answer.question} {...{ answer, isOld, isSignedIn }} />
        ))}
      </div>
    </section>
  );
}

/** Whether it also uses the findings of the last evaluation. */
function isOfRules({ question }: Answer): boolean {
  return question === "failed" || question === "fresh";
}

/** Whether it says that something has failed: this comes first, because not all fits on a phone. */
function hasFailed({ question, status }: Answer): boolean {
  return question === "failed" && status !== "pass";
}

interface CardProps {
  readonly answer: Answer;
  readonly isOld: boolean;
  readonly isSignedIn: boolean;
}

/** Problems that are shown at once, so that the sections stay in sight. */
const SHOWN_MAX = 3;

/** One answer, folded into a line unless it says what failed. */
function Card({ answer, isOld, isSignedIn }: CardProps) {
  const { details, status } = answer;
  const question = QUESTIONS[answer.question];
  const shown = hasFailed(answer) ? SHOWN_MAX : details.length;
  const others = details.slice(shown);
  return (
    <details
      class={`panel card ${details.length > 1 ? "card-wide" : ""} tone-${isOld ? "quiet" : TONES[status]}`}
      data-card={question}
      open={hasFailed(answer)}
    >
      <summary>
        <h2>{question}</h2>
        <p class="card-value">
          {answer.answer} <StatusPill word={isOld ? "not up to date" : status} />
        </p>
      </summary>
      <Notes details={details.slice(0, shown)} isSignedIn={isSignedIn} />
      {others.length > 0 && (
        <details>
          <summary>{others.length} more</summary>
          <Notes details={others} isSignedIn={isSignedIn} />
        </details>
      )}
      <p class="card-age">
        {isOfRules(answer) ? "Rules evaluated" : "Checked"} <Age at={answer.at} />
      </p>
    </details>
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
      {details.map(({ text, at, status, links }, index) => (
        <li key={index}>
          {status && <StatusPill word={status} />} {text} {at && <Time at={at} />}
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
