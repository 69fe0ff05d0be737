/** The explorer, and an application with the package, in the browsers that Chromium is not. */
import { html, PAGE } from "./apps.ts";
import type { BrowserName } from "./browsers.ts";
import { type Place, run, shownAt, shownBy, testPlaces, whileServingFiles } from "./place.ts";

/** Types into the explorer's search, and reads the first place that it lists, once that is München. */
const SEARCH = `(() => {
  const input = document.querySelector("[role=combobox]");
  if (input) input.value = "münchen";
  input?.dispatchEvent(new Event("input", { bubbles: true }));
  const option = document.querySelector("[role=option] .result-text");
  const [name, where] = [...(option?.children ?? [])].map((part) => part.textContent);
  return name === "München" ? name + " | " + where : "";
})()`;

function inBrowser(browser: BrowserName): readonly Place[] {
  return [
    {
      name: `the explorer in ${browser}`,
      packages: {},
      files: {},
      enter: ({ service }) => shownAt(`${service}/?airport=ZRH&locale=de`, SEARCH, browser),
    },
    {
      name: `a built picker in ${browser}`,
      packages: { vite: "7.3.8" },
      files: { "main.js": PAGE, "index.html": html("/main.js") },
      async enter(app) {
        await run(app.folder, "vite", "build");
        return whileServingFiles(`${app.folder}/dist`, (origin) => shownBy(origin, app, browser));
      },
    },
  ];
}

testPlaces([...inBrowser("Firefox"), ...inBrowser("WebKit")]);
