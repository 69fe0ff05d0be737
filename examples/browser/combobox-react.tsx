/** The combobox of the ARIA Authoring Practices, in React: its first option is selected as one types. */
import {
  type KeyboardEvent,
  useEffect,
  useEffectEvent,
  useId,
  useMemo,
  useRef,
  useState,
} from "react";
import { flushSync } from "react-dom";
import { createRoot } from "react-dom/client";
import {
  detailsOf,
  isOfInputMethod,
  onPlacesChange,
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
  /** @param selected stays so if it is found again; otherwise the first place is. */
  const look = async (text: string, selected?: Suggestion) => {
    state.current = "pending";
    try {
      const latest = await search(text);
      if (latest === null) return;
      const at = Math.max(
        0,
        latest.findIndex(({ id: one }) => one === selected?.id),
      );
      // At once: an Enter before React renders would choose from the earlier places.
      flushSync(() => {
        setFound(latest);
        setActive(at);
        setStatus(statusOf(text, latest));
      });
      state.current = "current";
      if (isAwaited.current) choose(latest[at]);
    } catch (error) {
      state.current = "failed";
      setFound([]);
      setStatus(error instanceof Error ? error.message : String(error));
    }
    isAwaited.current = false;
  };
  const type = (text: string) => {
    setTyped(text);
    setOpen(true);
    isAwaited.current = false;
    void look(text);
  };
  /** Names in other languages have come, or newer places. Whoever has selected none gets the best. */
  const lookAgain = useEffectEvent(() => {
    if (isOpen) void look(typed, active > 0 ? found[active] : undefined);
  });
  useEffect(() => onPlacesChange(() => lookAgain()), []);
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
          onChange={(event) => type(event.target.value)}
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
