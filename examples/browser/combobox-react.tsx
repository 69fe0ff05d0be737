/** The combobox of the ARIA Authoring Practices, in React: its first option is selected as one types. */
import { type KeyboardEvent, useEffect, useId, useMemo, useRef, useState } from "react";
import { createRoot } from "react-dom/client";
import {
  detailsOf,
  isOfInputMethod,
  openOnce,
  partsOf,
  searchOfField,
  statusOf,
  type Suggestion,
} from "./places.ts";

interface Props {
  readonly label: string;
  readonly onChoose: (place: Suggestion) => void;
}

function PlaceCombobox({ label, onChoose }: Props) {
  const id = useId();
  const search = useMemo(searchOfField, []);
  const [typed, setTyped] = useState("");
  const [found, setFound] = useState<readonly Suggestion[]>([]);
  const [active, setActive] = useState(0);
  const [isOpen, setOpen] = useState(false);
  const [status, setStatus] = useState("");
  /** Whether the places are those of the text in the field. */
  const state = useRef<"current" | "pending" | "failed">("current");
  /** Whether Enter was pressed while they were pending. */
  const isAwaited = useRef(false);
  const isListed = isOpen && found.length > 0;

  const close = () => {
    isAwaited.current = false;
    setOpen(false);
  };
  const choose = (place: Suggestion | undefined) => {
    if (place === undefined) return;
    setTyped(place.name);
    close();
    onChoose(place);
  };
  const look = async (text: string) => {
    setTyped(text);
    setOpen(true);
    state.current = "pending";
    isAwaited.current = false;
    try {
      const latest = await search(text);
      if (latest === null) return;
      setFound(latest);
      setActive(0);
      state.current = "current";
      setStatus(statusOf(text, latest));
      if (isAwaited.current) choose(latest[0]);
    } catch (error) {
      state.current = "failed";
      setFound([]);
      setStatus(error instanceof Error ? error.message : String(error));
    }
    isAwaited.current = false;
  };
  const move = (by: number) => {
    if (isListed) setActive((active + by + found.length) % found.length);
    setOpen(true);
  };
  const leave = () => {
    if (!isListed) {
      setTyped("");
      setFound([]);
    }
    close();
  };
  const isNow = (wanted: "pending" | "failed") => state.current === wanted;
  const onKeyDown = (event: KeyboardEvent) => {
    if (isOfInputMethod(event.nativeEvent)) return;
    if (event.key === "ArrowDown") move(1);
    else if (event.key === "ArrowUp") move(-1);
    else if (event.key === "Escape") leave();
    else if (event.key === "Enter" && isNow("failed")) void look(typed);
    else if (event.key === "Enter" && isNow("pending")) isAwaited.current = true;
    else if (event.key === "Enter" && isListed) choose(found[active]);
    else return;
    event.preventDefault();
  };
  useEffect(() => {
    if (isListed) document.getElementById(`${id}-${active}`)?.scrollIntoView({ block: "nearest" });
  }, [id, active, isListed]);

  return (
    <>
      <label htmlFor={id}>{label}</label>
      <div className="combobox">
        <input
          id={id}
          role="combobox"
          aria-autocomplete="list"
          aria-controls={`${id}-options`}
          aria-expanded={isListed}
          aria-activedescendant={isListed ? `${id}-${active}` : undefined}
          autoComplete="off"
          spellCheck={false}
          value={typed}
          onChange={(event) => void look(event.target.value)}
          onFocus={() => void openOnce().catch(() => undefined)}
          onBlur={close}
          onKeyDown={onKeyDown}
        />
        <ul
          id={`${id}-options`}
          role="listbox"
          aria-label="Places"
          hidden={!isListed}
          // The field keeps the focus, because its blur would close the list before the click.
          onMouseDown={(event) => event.preventDefault()}
        >
          {found.map((place, index) => (
            <li
              key={place.id}
              id={`${id}-${index}`}
              role="option"
              aria-selected={index === active}
              className={place.isUnderCity ? "under" : ""}
              onClick={() => choose(place)}
            >
              {partsOf(place).map(({ text, isMatched }, part) =>
                isMatched ? <mark key={part}>{text}</mark> : <span key={part}>{text}</span>,
              )}
              <small> {detailsOf(place)}</small>
            </li>
          ))}
        </ul>
      </div>
      <p role="status">{status}</p>
    </>
  );
}

function Page() {
  const [chosen, setChosen] = useState<Suggestion>();
  return (
    <>
      <h1>Where from?</h1>
      <PlaceCombobox label="City or airport" onChoose={setChosen} />
      <p>
        Chosen:{" "}
        <output>{chosen ? `${chosen.name} (${chosen.airports.join(", ")})` : "nothing"}</output>
      </p>
    </>
  );
}

const root = document.getElementById("root");
if (root) createRoot(root).render(<Page />);
