import { useMemo } from "preact/hooks";
import { formatCount, formatTime } from "../shared/format.ts";
import { useSpeech } from "./use-speech.ts";
import type { AirportPlace, Place } from "../../client/src/catalog.ts";
import { PanelHead } from "./panel-head.tsx";
import { PlaceList } from "./place-list.tsx";
import type { LoadedCatalog } from "./use-catalog.ts";
import { CHANGED_LISTS, type Changes } from "./use-changes.ts";

interface Props {
  readonly catalog: LoadedCatalog;
  readonly changes: Changes;
  readonly onSelect: (place: Place) => void;
  readonly onClose: () => void;
}

const CHANGE_KINDS = ["added", "changed", "removed"] as const;

/** Shows what the current version has changed. */
export function ChangesPanel({ catalog, changes, onSelect, onClose }: Props) {
  const { words, fill } = useSpeech();
  return (
    <article class="place stack">
      <PanelHead
        above={
          <span class="trail">{changes.state === "known" && formatTime(changes.publishedAt)}</span>
        }
        heading={fill(words.changes, { version: String(catalog.version) })}
        onClose={onClose}
      />
      {changes.state === "known" ? (
        <KnownChanges catalog={catalog} changes={changes} onSelect={onSelect} />
      ) : (
        <p role="status" lang="en" dir="ltr">
          {TEXTS[changes.state]}
        </p>
      )}
    </article>
  );
}

const TEXTS = {
  asking: "Asking …",
  unknown: "The service has no list of what this version changed.",
  failed: "The service did not answer. Close this, and ask again.",
} as const;

interface KnownProps extends Pick<Props, "catalog" | "onSelect"> {
  readonly changes: Extract<Changes, { state: "known" }>;
}

function KnownChanges({ catalog, changes, onSelect }: KnownProps) {
  const { words, format } = useSpeech();
  const { lists } = changes;
  const airports = useMemo(() => changedAirports(catalog, changes), [catalog, changes]);
  return (
    <>
      <table class="changes" lang="en" dir="ltr">
        <thead>
          <tr>
            <td />
            {CHANGE_KINDS.map((kind) => (
              <th key={kind} scope="col">
                {kind}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {CHANGED_LISTS.map((list) => (
            <tr key={list}>
              <th scope="row">{list}</th>
              {CHANGE_KINDS.map((kind) => (
                <td key={kind}>{formatCount(lists[list].counts[kind])}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      <PlaceList
        title={words.airports}
        places={airports}
        locale={catalog.locale}
        onSelect={onSelect}
      />
      {lists.airports.removed.length > 0 && (
        <section class="place-list">
          <h2>
            {words.removed}{" "}
            <span class="count">{format("count", lists.airports.counts.removed)}</span>
          </h2>
          <ul>
            {lists.airports.removed.map(({ id, iata, name }) => (
              <li key={id} class="row">
                <span class="code">{iata}</span>
                {name}
              </li>
            ))}
          </ul>
        </section>
      )}
    </>
  );
}

/** Finds the airports that are new or changed, or whose city is. */
export function changedAirports(
  { airports }: LoadedCatalog,
  { lists }: Extract<Changes, { state: "known" }>,
): AirportPlace[] {
  const changed = [lists.airports, lists.cities].flatMap((list) => [
    ...list.added,
    ...list.changed,
  ]);
  const ids = new Set(changed.map(({ id }) => id));
  return airports.filter(({ id, city }) => ids.has(id) || ids.has(city.id));
}
