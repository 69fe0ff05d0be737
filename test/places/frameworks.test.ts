/** Frameworks, whose proxies and servers the package meets. */
import { readFileSync } from "node:fs";
import { html, PAGE, viteApps } from "./apps.ts";
import { run, shownBy, testPlaces, whileServing } from "./place.ts";

const FIND = PAGE.replace(/^find\(\).*$/m, "");

const VUE = `<script setup>
import { onMounted, ref } from "vue";
import { openCatalog } from "locations-at-the-edge-client";
import { show } from "./find.js";
const catalog = ref();
onMounted(async () => {
  const baseUrl = new URLSearchParams(location.search).get("service");
  catalog.value = await openCatalog({ baseUrl, locale: "de" });
  const { search } = catalog.value;
  const [{ name, where }] = await search("münchen");
  show(catalog.value.language === "de" ? \`\${name} | \${where}\` : "another language");
});
</script>
<template><p>{{ catalog?.version }}</p></template>
`;

const SVELTE = `<script>
import { onMount } from "svelte";
import { openCatalog } from "locations-at-the-edge-client";
import { show } from "./find.js";
let catalog = $state();
onMount(async () => {
  const baseUrl = new URLSearchParams(location.search).get("service");
  catalog = await openCatalog({ baseUrl, locale: "de" });
  const { search } = catalog;
  const [{ name, where }] = await search("münchen");
  show(catalog.language === "de" ? \`\${name} | \${where}\` : "another language");
});
</script>
<p>{catalog?.version}</p>
`;

/** The README's component. */
function readmeReact(): string {
  const readme = readFileSync("client/README.md", "utf8");
  const [, outside = "", inside = ""] =
    /^```tsx\n(.*?)^```$.*?^```tsx\n(.*?)^```$/ms.exec(readme) ?? [];
  const service = 'new URLSearchParams(location.search).get("service") ?? ""';
  return `import { StrictMode, useEffect, useState } from "react";
import { createRoot } from "react-dom/client";
import { openCatalog, takeLatest, type LocationsCatalog, type Suggestion } from "locations-at-the-edge-client";
import { show } from "./find.js";
${outside.replace(/baseUrl: "[^"]*", locale: [\w.]+/, `baseUrl: ${service}, locale: "de"`)}
function Picker() {
${inside}
  useEffect(() => void type("münchen"), []);
  useEffect(() => {
    const [first] = found;
    if (failure !== "" || first) show(failure || \`\${first?.name} | \${first?.where}\`);
  }, [found, failure]);
  return <p>{found.length}</p>;
}
createRoot(document.getElementById("app")!).render(<StrictMode><Picker /></StrictMode>);
`;
}

const NEXT_PAGE = `"use client";
import { useEffect, useState } from "react";
import { find, show } from "./find.js";
export default function Page() {
  const [found, setFound] = useState("");
  useEffect(() => void find().then(setFound, (error) => setFound(String(error))), []);
  useEffect(() => show(found), [found]);
  return <p>{found}</p>;
}
`;

const NEXT_ROUTE = `import { openCatalog } from "locations-at-the-edge-client";
export const dynamic = "force-dynamic";
export async function GET(request) {
  const baseUrl = new URL(request.url).searchParams.get("service");
  const catalog = await openCatalog({ baseUrl, locale: "de", folder: "store" });
  const [{ name, where }] = await catalog.search("münchen");
  return new Response(\`\${name} | \${where}\`);
}
`;

const LAYOUT = `export default ({ children }) => <html lang="en"><body>{children}</body></html>;\n`;

const VITE = { vite: "8.3.8" };

testPlaces([
  ...viteApps(
    "React 19.3.1, as the README has it",
    { ...VITE, react: "19.3.1", "react-dom": "19.3.1" },
    { "find.js": FIND, "main.tsx": readmeReact(), "index.html": html("/main.tsx") },
    false,
  ),
  ...viteApps(
    "Vue 3.5.45 with ref",
    { ...VITE, vue: "3.5.45", "@vitejs/plugin-vue": "6.0.11" },
    {
      "find.js": FIND,
      "App.vue": VUE,
      "main.js":
        'import { createApp } from "vue"; import App from "./App.vue"; createApp(App).mount("#app");',
      "vite.config.js":
        'import vue from "@vitejs/plugin-vue"; export default { plugins: [vue()] };',
    },
  ),
  ...viteApps(
    "Svelte 5.57.3 with $state",
    { ...VITE, svelte: "5.57.3", "@sveltejs/vite-plugin-svelte": "7.3.1" },
    {
      "find.js": FIND,
      "App.svelte": SVELTE,
      "main.js":
        'import { mount } from "svelte"; import App from "./App.svelte"; mount(App, { target: document.querySelector("#app") });',
      "vite.config.js":
        'import { svelte } from "@sveltejs/vite-plugin-svelte"; export default { plugins: [svelte()] };',
    },
  ),
  {
    name: "Next 16.4.6, page and route",
    packages: { next: "16.4.6", react: "19.3.1", "react-dom": "19.3.1" },
    files: {
      "app/layout.js": LAYOUT,
      "app/find.js": FIND,
      "app/page.js": NEXT_PAGE,
      "app/places/route.js": NEXT_ROUTE,
    },
    async enter(app) {
      await run(app.folder, "next", "build");
      return whileServing(app.folder, ["next", "start", "--port={port}"], async (origin) => {
        const route = await fetch(`${origin}/places?service=${app.service}`);
        const both = [await route.text(), await shownBy(origin, app)];
        return [...new Set(both)].join();
      });
    },
  },
]);
