import { openCatalog } from "../../client/src/browser.ts"; // "locations-at-the-edge-client" elsewhere

const query = new URLSearchParams(location.search);
const baseUrl = query.get("service") ?? "http://127.0.0.1:8787";
const locale = query.get("locale") ?? navigator.language;

const input = element("input", HTMLInputElement);
const list = element("ol", HTMLOListElement);
const output = element("output", HTMLOutputElement);

output.textContent = "Loading…";
try {
  const catalog = await openCatalog({ baseUrl, locale });
  const showPlaces = async () => {
    const typed = input.value;
    const found = await catalog.search(typed);
    if (typed !== input.value) return;
    const items = found.map(({ name, where, airports }) => {
      const item = document.createElement("li");
      const codes = airports.length > 6 ? `${airports.length} airports` : airports.join(", ");
      item.textContent = [name, where, codes].filter((part) => part !== "").join(" · ");
      return item;
    });
    list.replaceChildren(...items);
  };
  input.addEventListener("input", () => void showPlaces());
  catalog.onChange(() => void showPlaces());
  await showPlaces();
  const error = await catalog.refresh().catch((cause: Error) => cause.message);
  output.textContent = `version ${catalog.version}, ${error ?? "current"}`;
} catch (error) {
  output.textContent = String(error);
}

function element<T extends Element>(selector: string, type: new () => T): T {
  const found = document.querySelector(selector);
  if (found instanceof type) return found;
  throw new Error(`the page has no ${selector}`);
}
