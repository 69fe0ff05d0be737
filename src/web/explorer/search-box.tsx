import { useDeferred } from "../shared/use-deferred.ts";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { Place } from "./catalog-index.ts";
import { placeContext, placeName } from "./places.ts";
import { SEARCH_LIMIT, type SearchIndex, searchPlaces } from "./search.ts";
import { textDirection } from "./text-direction.ts";

interface Props {
  readonly search: SearchIndex | undefined;
  readonly locale: string;
  readonly onSelect: (place: Place) => void;
}

/** A combobox (ARIA authoring practices) that searches the catalog. */
export function SearchBox({ search, locale, onSelect }: Props) {
  const [typed, setTyped] = useState("");
  const [isOpen, setOpen] = useState(false);
  const [active, setActive] = useState(0);
  const input = useRef<HTMLInputElement>(null);
  const query = useDeferred(typed);
  const places = useMemo(() => (search ? searchPlaces(search, query) : []), [search, query]);
  useEffect(() => setActive(0), [places]);
  const isListed = isOpen && typed.trim() !== "";

  const choose = (place: Place) => {
    setOpen(false);
    setTyped("");
    onSelect(place);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const chosen = places[active];
    if (event.key === "ArrowDown") setActive(Math.min(active + 1, places.length - 1));
    else if (event.key === "ArrowUp") setActive(Math.max(active - 1, 0));
    else if (event.key === "Enter" && isListed && chosen !== undefined) choose(chosen);
    else if (event.key === "Escape") {
      setOpen(false);
      setTyped("");
    } else return;
    event.preventDefault();
  };

  return (
    <div class="search" role="search">
      <label class="visually-hidden" for="search">
        Search airports, cities, countries and regions
      </label>
      <input
        ref={input}
        id="search"
        class="search-input"
        type="text"
        autocomplete="off"
        spellcheck={false}
        placeholder="Search by code, name, city, region"
        role="combobox"
        aria-expanded={isListed}
        aria-controls="search-results"
        aria-autocomplete="list"
        aria-activedescendant={isListed && places[active] ? `result-${active}` : undefined}
        value={typed}
        onInput={(event) => {
          setTyped(event.currentTarget.value);
          setOpen(true);
        }}
        onFocus={() => setOpen(true)}
        onBlur={() => setOpen(false)}
        onKeyDown={onKeyDown}
      />
      <ul
        id="search-results"
        class="results"
        role="listbox"
        aria-label="Results"
        hidden={!isListed || places.length === 0}
      >
        {isListed &&
          places.map((place, index) => (
            <Result
              key={index}
              id={`result-${index}`}
              place={place}
              locale={locale}
              isActive={index === active}
              onChoose={() => choose(place)}
            />
          ))}
      </ul>
      <p class="search-status" role="status">
        {isListed && query === typed && resultText(places.length, typed)}
      </p>
    </div>
  );
}

function resultText(count: number, typed: string): string {
  if (count === 0)
    return `Nothing is called “${typed.trim()}”. Try a code such as ZRH, or fewer letters.`;
  if (count === SEARCH_LIMIT) return `The best ${SEARCH_LIMIT} results`;
  return count === 1 ? "1 result" : `${count} results`;
}

interface ResultProps {
  readonly id: string;
  readonly place: Place;
  readonly locale: string;
  readonly isActive: boolean;
  readonly onChoose: () => void;
}

function Result({ id, place, locale, isActive, onChoose }: ResultProps) {
  const option = useRef<HTMLLIElement>(null);
  useEffect(() => {
    if (isActive) option.current?.scrollIntoView({ block: "nearest" });
  }, [isActive]);
  const isLocalized = place.kind === "region";
  return (
    <li
      ref={option}
      id={id}
      class="result"
      role="option"
      aria-selected={isActive}
      // The input keeps the focus, because its blur would close the list before the click.
      onMouseDown={(event) => event.preventDefault()}
      onClick={onChoose}
    >
      <span class={`badge badge-${place.kind}`}>
        {place.kind === "airport" ? place.airport.iata : place.kind}
      </span>
      <span class="result-text">
        <bdi {...(isLocalized ? { lang: locale, dir: textDirection(locale) } : {})}>
          {placeName(place)}
        </bdi>
        <small>{placeContext(place)}</small>
      </span>
    </li>
  );
}
