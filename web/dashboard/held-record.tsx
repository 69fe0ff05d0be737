import type { HeldChange } from "./answers.ts";
import { changedFields, type Fields } from "../../src/schemas/decided-change.ts";
import { compareWords, recordText } from "./held-words.ts";

/** The served record, with the words marked that upstream lacks. */
export function Before({ held }: { readonly held: HeldChange }) {
  return <Side held={held} record={held.before} other={held.after} tag="del" />;
}

/** Upstream's record, with the new words marked. */
export function After({ held }: { readonly held: HeldChange }) {
  return <Side held={held} record={held.after} other={held.before} tag="ins" />;
}

interface SideProps {
  readonly held: HeldChange;
  readonly record: Fields | null;
  readonly other: Fields | null;
  readonly tag: "del" | "ins";
}

function Side({ held, record, other, tag: Tag }: SideProps) {
  if (record === null) return <span class="hint">not listed</span>;
  return (
    <dl class="diff held-record">
      {changedFields(held).map((field) => (
        <div key={field}>
          <dt>{field}</dt>
          <dd>
            {compareWords(recordText(record[field]), recordText((other ?? record)[field])).map(
              ({ text: word, isOther }, index) =>
                isOther ? <Tag key={index}>{word}</Tag> : <span key={index}>{word}</span>,
            )}
          </dd>
        </div>
      ))}
    </dl>
  );
}
