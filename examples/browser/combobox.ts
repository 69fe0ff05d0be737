/** The combobox of the ARIA Authoring Practices, in plain DOM: its first option is selected as one types. */
import {
  detailsOf,
  isOfInputMethod,
  openOnce,
  partsOf,
  searchOfField,
  statusOf,
  type Suggestion,
} from "./places.ts";

const input = element("#from", HTMLInputElement);
const list = element("#from-options", HTMLUListElement);
const status = element("#from-status", HTMLParagraphElement);
const output = element("output", HTMLOutputElement);

const search = searchOfField();
let found: readonly Suggestion[] = [];
let active = 0;
let isOpen = false;
/** Whether the places are those of the text in the field. */
let state: "current" | "pending" | "failed" = "current";
/** Whether Enter was pressed while they were pending. */
let isAwaited = false;

async function look(): Promise<void> {
  isOpen = true;
  state = "pending";
  isAwaited = false;
  try {
    const latest = await search(input.value);
    if (latest === null) return;
    found = latest;
    active = 0;
    state = "current";
    status.textContent = statusOf(input.value, found);
    render();
    if (isAwaited) choose(0);
  } catch (error) {
    state = "failed";
    found = [];
    render();
    status.textContent = error instanceof Error ? error.message : String(error);
  }
  isAwaited = false;
}

function render(): void {
  list.hidden = !isOpen || found.length === 0;
  input.setAttribute("aria-expanded", String(!list.hidden));
  list.replaceChildren(...found.map(optionOf));
  const selected = list.hidden ? null : list.children[active];
  if (selected) input.setAttribute("aria-activedescendant", selected.id);
  else input.removeAttribute("aria-activedescendant");
  selected?.scrollIntoView({ block: "nearest" });
}

function optionOf(suggestion: Suggestion, index: number): HTMLLIElement {
  const option = document.createElement("li");
  option.id = `from-${index}`;
  option.role = "option";
  option.ariaSelected = String(index === active);
  option.classList.toggle("under", suggestion.isUnderCity);
  const name = partsOf(suggestion).map(({ text, isMatched }) => {
    const part = document.createElement(isMatched ? "mark" : "span");
    part.textContent = text;
    return part;
  });
  const details = document.createElement("small");
  details.textContent = ` ${detailsOf(suggestion)}`;
  option.append(...name, details);
  option.addEventListener("click", () => choose(index));
  return option;
}

function choose(index: number): void {
  const chosen = found[index];
  if (!chosen) return;
  input.value = chosen.name;
  output.textContent = `${chosen.name} (${chosen.airports.join(", ")})`;
  close();
}

function close(): void {
  isAwaited = false;
  isOpen = false;
  render();
}

function move(by: number): void {
  if (!list.hidden) active = (active + by + found.length) % found.length;
  isOpen = true;
  render();
}

function leave(): void {
  if (list.hidden) {
    input.value = "";
    found = [];
  }
  close();
}

input.addEventListener("input", () => void look());
input.addEventListener("focus", () => void openOnce().catch(() => undefined), { once: true });
input.addEventListener("blur", close);
input.addEventListener("keydown", (event) => {
  if (isOfInputMethod(event)) return;
  if (event.key === "ArrowDown") move(1);
  else if (event.key === "ArrowUp") move(-1);
  else if (event.key === "Escape") leave();
  else if (event.key === "Enter" && state === "failed") void look();
  else if (event.key === "Enter" && state === "pending") isAwaited = true;
  else if (event.key === "Enter" && !list.hidden) choose(active);
  else return;
  event.preventDefault();
});
// The field keeps the focus, because its blur would close the list before the click.
list.addEventListener("mousedown", (event) => event.preventDefault());

function element<T extends Element>(selector: string, type: new () => T): T {
  const one = document.querySelector(selector);
  if (one instanceof type) return one;
  throw new Error(`the page has no ${selector}`);
}
