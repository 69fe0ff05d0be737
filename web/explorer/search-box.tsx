import { useEffect, useRef, useState } from "preact/hooks";
import type { Place } from "../../client/src/catalog.ts";
import { PlaceName } from "./place-link.tsx";
import { closedText, placeContext } from "./places.ts";
import type { Speech } from "./speech.ts";
import { useSpeech } from "./use-speech.ts";
import type { CatalogPort, Result } from "./use-catalog.ts";

interface Props extends Pick<CatalogPort, "found" | "search" | "prepareSearch"> {
  readonly locale: string;
  readonly onSelect: (place: Place) => void;
}

/** A combobox (ARIA authoring practices) that searches the catalog. */
export function SearchBox({ found, search, prepareSearch, locale, onSelect }: Props) {
  const speech = useSpeech();
  const { words } = speech;
  const [typed, setTyped] = useState("");
  const [isOpen, setOpen] = useState(false);
  const [active, setActive] = useState(0);
  const input = useRef<HTMLInputElement>(null);
  // Until the answer to the last letter is there, that to the one before stays, but leads nowhere.
  const results = found.results ?? [];
  const isCurrent = found.typed === typed;
  useEffect(() => setActive(0), [found.typed]);
  useEffect(() => search(typed), [typed, locale]);
  const isListed = isOpen && typed.trim() !== "";
  const isLoaded = isCurrent && found.results !== null;
  // The text whose first result somebody has chosen before it was there.
  const [awaited, setAwaited] = useState<string>();

  const choose = (place: Place) => {
    if (!isCurrent) return;
    setOpen(false);
    setTyped("");
    onSelect(place);
  };
  const clear = () => {
    setTyped("");
    input.current?.focus();
  };
  useEffect(() => {
    if (awaited === undefined || !isLoaded) return;
    setAwaited(undefined);
    const [first] = results;
    if (awaited === typed && first) choose(first.place);
  }, [awaited, isLoaded, found]);
  const onKeyDown = (event: KeyboardEvent) => {
    if (isOfInputMethod(event)) return;
    const chosen = results[active]?.place;
    if (event.key === "ArrowDown") setActive(Math.min(active + 1, results.length - 1));
    else if (event.key === "ArrowUp") setActive(Math.max(active - 1, 0));
    else if (event.key === "Enter" && isListed && !isLoaded) setAwaited(typed);
    else if (event.key === "Enter" && isListed && chosen) choose(chosen);
    else if (event.key === "Escape") {
      setOpen(false);
      setTyped("");
    } else return;
    event.preventDefault();
  };

  return (
    <div class="search" role="search">
      <div class="search-field">
        <input
          ref={input}
          aria-label={words.search}
          class="input"
          type="text"
          autocomplete="off"
          spellcheck={false}
          placeholder={words.searchHint}
          role="combobox"
          aria-expanded={isListed}
          aria-controls="search-results"
          aria-autocomplete="list"
          aria-activedescendant={isListed && results[active] ? `result-${active}` : undefined}
          value={typed}
          onInput={(event) => {
            setTyped(event.currentTarget.value);
            setAwaited(undefined);
            setOpen(true);
          }}
          onFocus={() => {
            prepareSearch();
            setOpen(true);
          }}
          onBlur={() => setOpen(false)}
          onKeyDown={onKeyDown}
        />
        {typed !== "" && (
          <button
            type="button"
            class="icon-button search-clear"
            aria-label={words.clear}
            title={words.clear}
            onClick={clear}
          >
            <span aria-hidden="true">×</span>
          </button>
        )}
      </div>
      <ul
        id="search-results"
        class={`floating results ${isCurrent ? "" : "is-stale"}`}
        aria-busy={!isCurrent}
        role="listbox"
        aria-label={words.results}
        hidden={!isListed || results.length === 0}
        // The input keeps the focus, because its blur would close the list before a click on it.
        onMouseDown={(event) => event.preventDefault()}
      >
        {isListed &&
          results.map((result, index) => (
            <Option
              key={result.place.id}
              id={`result-${index}`}
              result={result}
              locale={locale}
              isActive={index === active}
              onChoose={() => choose(result.place)}
            />
          ))}
      </ul>
      <p class="floating search-status" role="status">
        {isListed && (isCurrent || results.length === 0) && resultText(found, isLoaded, speech)}
      </p>
    </div>
  );
}

/** Whether a key is for a composition. Safari ends it earlier, and shows it only by the key code. */
function isOfInputMethod({ isComposing, keyCode }: KeyboardEvent): boolean {
  return isComposing || keyCode === 229;
}

function resultText(
  { typed, results }: CatalogPort["found"],
  isLoaded: boolean,
  { words, fill, format }: Speech,
): string {
  if (!isLoaded || results === null) return words.waiting;
  if (results.length === 0) return fill(words.nothing, { typed: typed.trim() });
  if (results[0]?.isPartial) return words.closest;
  return `${words.results}: ${format("count", results.length)}`;
}

interface OptionProps {
  readonly id: string;
  readonly result: Result;
  readonly locale: string;
  readonly isActive: boolean;
  readonly onChoose: () => void;
}

/** An airport under its city is indented; what is read aloud says the city. */
function Option({ id, result, locale, isActive, onChoose }: OptionProps) {
  const { place, name, where, isUnderCity, isPartial, replaces, near } = result;
  const speech = useSpeech();
  const { words, fill, format } = speech;
  const option = useRef<HTMLLIElement>(null);
  useEffect(() => {
    if (isActive) option.current?.scrollIntoView({ block: "nearest" });
  }, [isActive]);
  return (
    <li
      ref={option}
      id={id}
      class={`row result${isUnderCity ? " result-under" : ""}`}
      role="option"
      aria-selected={isActive}
      onClick={onChoose}
    >
      <span class={`badge badge-${place.kind}`}>
        {place.kind === "airport" ? place.iata : words[place.kind]}
      </span>
      <span class="result-text">
        <PlaceName place={{ ...place, name }} locale={locale} />
        <small class={isUnderCity ? "visually-hidden" : ""}>
          {"lat" in place ? where : placeContext(place, speech)}
        </small>
        {isPartial && <small>{words.similar}</small>}
        {replaces && (
          <small>
            {words.replaces}: {closedText(replaces, speech)}
          </small>
        )}
        {near && (
          <small>
            {fill(words.distance, {
              distance: format("kilometer", Math.round(near.distanceKm)),
              place: near.name,
            })}
          </small>
        )}
      </span>
    </li>
  );
}
