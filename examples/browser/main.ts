import { fromBinary } from "@bufbuild/protobuf";
import { LocationsResponseSchema } from "../../gen/locations/v1/locations_pb.ts";
import type { CatalogCopy } from "../catalog/refresh.ts";
import { findPlaces, indexPlaces, type SearchIndex } from "../catalog/search.ts";
import { openCatalog } from "./catalog-store.ts";

const query = new URLSearchParams(location.search);
const source = {
  service: query.get("service") ?? "http://127.0.0.1:8787",
  locale: query.get("locale") ?? navigator.language,
};

const input = element("input", HTMLInputElement);
const list = element("ol", HTMLOListElement);
const output = element("output", HTMLOutputElement);
let index: SearchIndex = [];
let shown = "";

input.addEventListener("input", showPlaces);
output.textContent = "Loading…";
try {
  await openCatalog(source, showCatalog);
  output.textContent = `${shown}, current`;
} catch (error) {
  output.textContent = [shown, String(error)].filter((part) => part !== "").join(" · ");
}

function showCatalog({ bytes, version }: CatalogCopy): void {
  const catalog = fromBinary(LocationsResponseSchema, bytes);
  index = indexPlaces(catalog);
  shown = `${catalog.airports.length} airports, version ${version}`;
  output.textContent = shown;
  showPlaces();
}

function showPlaces(): void {
  const items = findPlaces(index, input.value).map(({ name, within, airports }) => {
    const item = document.createElement("li");
    const codes = airports.length > 6 ? `${airports.length} airports` : airports.join(", ");
    item.textContent = [name, within, codes].filter((part) => part !== "").join(" · ");
    return item;
  });
  list.replaceChildren(...items);
}

function element<T extends Element>(selector: string, type: new () => T): T {
  const found = document.querySelector(selector);
  if (found instanceof type) return found;
  throw new Error(`the page has no ${selector}`);
}
