import type { DecidedChange } from "../../src/schemas/decided-change.ts";
import { formatNumberOf } from "../shared/format.ts";
import { decidedText } from "./held-words.ts";

interface Props {
  readonly changes: readonly DecidedChange[];
  /** How many there are; more than `changes` if not all are known. */
  readonly total: number;
  /** Whether many are shown at once. */
  readonly isOpen?: boolean;
}

/** Number that is shown at first. */
const SHOWN = 3;

/** The changes behind a decision, each with its airport and its fields before and after. */
export function DecidedChanges({ changes, total, isOpen = false }: Props) {
  const list = (
    <ul class="decided">
      {changes.map((change) => (
        <li key={change.id}>
          <b>{change.iata ?? "Subdivision"}</b> {change.name}: {decidedText(change)}
        </li>
      ))}
      {total > changes.length && <li>… and {formatNumberOf(total - changes.length, "other")}</li>}
    </ul>
  );
  if (isOpen || total <= SHOWN) return list;
  return (
    <details>
      <summary>{formatNumberOf(total, "change")}</summary>
      {list}
    </details>
  );
}
