/** What both comboboxes do with the package. */
import {
  type LocationsSearch,
  openSearch,
  type Suggestion,
  takeLatest,
} from "../../client/src/browser.ts"; // "locations-at-the-edge-client" elsewhere

export type { Suggestion };

const query = new URLSearchParams(location.search);
const baseUrl = query.get("service") ?? "http://127.0.0.1:8787";
const locale = query.get("locale") ?? navigator.language;

let opening: Promise<LocationsSearch> | undefined;

const listeners = new Set<() => void>();

/** Opens the search once. After a failure, the next call tries again. */
export function openOnce(): Promise<LocationsSearch> {
  if (opening !== undefined) return opening;
  opening = openSearch({ baseUrl, locale });
  opening.then(
    (search) => search.onChange(() => listeners.forEach((listener) => listener())),
    () => (opening = undefined),
  );
  return opening;
}

/** Has a listener called when a search may find something else; returns what ends that. */
export function onPlacesChange(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** Makes the search of one text field. It gives null if somebody has typed on. */
export function searchOfField(): (typed: string) => Promise<readonly Suggestion[] | null> {
  return takeLatest(async (typed, signal) => {
    if (typed.trim() === "") return [];
    const search = await openOnce();
    return search.search(typed, { signal });
  });
}

/** Splits a name into what was typed and what was not. */
export function partsOf({ name, matched }: Suggestion): { text: string; isMatched: boolean }[] {
  const ends = [0, ...matched.flat(), name.length];
  return ends
    .slice(1)
    .map((end, index) => ({ text: name.slice(ends[index], end), isMatched: index % 2 === 1 }))
    .filter(({ text }) => text !== "");
}

/** What stands behind a name, such as `Germany · MUC`. */
export function detailsOf({ where, airports, near, replaces, isPartial }: Suggestion): string {
  const codes = airports.length > 6 ? `${airports.length} airports` : airports.join(", ");
  const nearby = near && `${Math.round(near.distanceKm)} km from ${near.name}`;
  const guess = isPartial && "only similar";
  return [where, codes, nearby, replaces && `replaces ${replaces.name}`, guess]
    .filter(Boolean)
    .join(" · ");
}

/** What a screen reader says once the places are listed. */
export function statusOf(typed: string, found: readonly Suggestion[]): string {
  if (typed.trim() === "") return "";
  if (found.length === 0) return "No place has this name.";
  const places = found.length === 1 ? "1 place" : `${found.length} places`;
  return found[0]?.isPartial ? `${places}, only similar` : places;
}

/** Whether a key belongs to an input method. Safari shows that only by the key code. */
export function isOfInputMethod({ isComposing, keyCode }: KeyboardEvent): boolean {
  return isComposing || keyCode === 229;
}
