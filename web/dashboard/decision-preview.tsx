import { decidedChange, isLarge } from "../../src/schemas/decided-change.ts";
import { formatCount, formatNumberOf } from "../shared/format.ts";
import type { HeldChange, HeldPage } from "./answers.ts";
import { DecidedChanges } from "./decided-changes.tsx";
import { FailureLine } from "./failure-line.tsx";
import { After, Before } from "./held-record.tsx";
import { effectOf } from "./held-words.ts";
import { usePoll } from "./use-poll.ts";

interface Props {
  readonly held: HeldChange;
  readonly isApproval: boolean;
}

/** The effect of a decision on one change: the served values, and upstream's. */
export function DecisionPreview({ held, isApproval }: Props) {
  return (
    <>
      <p>
        <b>{held.iata ?? "Subdivision"}</b> {held.name}
        {isApproval && `: ${effectOf(held)}`}
      </p>
      <h3>{isApproval ? "Served now" : "Served, as before"}</h3>
      <Before held={held} />
      <h3>{isApproval ? "Served then" : "Upstream says"}</h3>
      <After held={held} />
    </>
  );
}

interface GroupProps {
  /** A rule, or `none`. */
  readonly rule: string;
}

/** The longest page that the service gives. */
const LISTED_MAX = 200;
const EVERY_MS = 10_000;

/** The changes behind a decision on a group, with the large airports first, as the service lists them. */
export function GroupPreview({ rule }: GroupProps) {
  const polled = usePoll<HeldPage>(
    `/admin/ingest/held?state=waiting&rule=${rule}&limit=${LISTED_MAX}`,
    EVERY_MS,
  );
  if (polled.body === undefined) return <FailureLine polled={polled} what="list of held changes" />;
  const { held, total } = polled.body;
  const large = held.filter(isLarge).length;
  return (
    <>
      <p>
        {formatNumberOf(total, "change")},{" "}
        {large === LISTED_MAX ? `${formatCount(large)} or more` : formatCount(large)} of large
        airports:
      </p>
      <DecidedChanges changes={held.map(decidedChange)} total={total} isOpen />
    </>
  );
}
