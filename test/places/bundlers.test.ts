/** The bundlers that the package's README names, and a page without any. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { asPicker, built, html, PAGE, viteApps } from "./apps.ts";
import { type Place, shownBy, testPlaces, whileServingFiles } from "./place.ts";

const DIST = { "main.js": PAGE, "dist/index.html": html("/main.js") };

const ROLLUP = `import { nodeResolve } from "@rollup/plugin-node-resolve";
export default {
  input: { main: "main.js", worker: "locations-at-the-edge-client/worker" },
  output: { dir: "dist", entryFileNames: "[name].js" },
  plugins: [nodeResolve({ browser: true })],
};
`;

const IMPORT_MAP = `<script type="importmap">
{ "imports": { "locations-at-the-edge-client": "/node_modules/locations-at-the-edge-client/dist/client/src/browser.js" } }
</script>`;

/** The README's page of another origin. */
function cdnPage(): string {
  const readme = readFileSync("client/README.md", "utf8");
  const [, code = ""] = /^```js\n(import [^`]*cdn\.example\.com[^`]*)^```$/m.exec(readme) ?? [];
  return `${code}
const [{ name, where }] = await picker.search("münchen");
document.body.dataset.found = \`\${name} | \${where}\`;
`;
}

function withEsbuild(worker: string): Place {
  const entry = `${worker}=locations-at-the-edge-client/${worker}`;
  const options = ["--bundle", "--format=esm", "--outdir=dist"];
  return {
    name: "esbuild 0.28.2",
    packages: { esbuild: "0.28.2" },
    files: DIST,
    enter: (app) => built(app, ["esbuild", "main.js", entry, ...options]),
  };
}

testPlaces([
  ...viteApps("Vite 5.4.21", { vite: "5.4.21" }, { "main.js": PAGE }),
  ...viteApps("Vite 6.4.6", { vite: "6.4.6" }, { "main.js": PAGE }),
  ...viteApps("Vite 8.3.8", { vite: "8.3.8" }, { "main.js": PAGE }, false),
  {
    name: "webpack 5.113.0",
    packages: { webpack: "5.113.0", "webpack-cli": "7.3.1" },
    files: DIST,
    enter: (app) => built(app, ["webpack", "./main.js", "--mode=production", "--output-path=dist"]),
  },
  {
    name: "Parcel 2.16.4",
    packages: { parcel: "2.16.4" },
    files: { "main.js": PAGE, "index.html": html("main.js") },
    enter: (app) => built(app, ["parcel", "build", "index.html", "--no-cache"]),
  },
  withEsbuild("worker"),
  asPicker(withEsbuild("search-worker")),
  {
    name: "Rollup 4.68.8",
    packages: { rollup: "4.68.8", "@rollup/plugin-node-resolve": "16.0.3" },
    files: { ...DIST, "rollup.config.js": ROLLUP },
    enter: (app) => built(app, ["rollup", "--config"]),
  },
  {
    name: "plain HTML with the package on a CDN, as the README has it",
    packages: {},
    files: { "main.js": cdnPage(), "index.html": html("/main.js") },
    enter: (app) =>
      whileServingFiles(`${app.folder}/node_modules/locations-at-the-edge-client`, (cdn) => {
        const main = join(app.folder, "main.js");
        const source = readFileSync(main, "utf8").replaceAll("https://cdn.example.com", cdn);
        writeFileSync(main, source.replace("http://127.0.0.1:8787", app.service));
        return whileServingFiles(app.folder, (origin) => shownBy(origin, app));
      }),
    shows: /^Munich \| Germany$/,
  },
  {
    name: "plain HTML with an import map",
    packages: {},
    files: { "main.js": PAGE, "index.html": `${IMPORT_MAP}${html("/main.js")}` },
    enter: (app) => whileServingFiles(app.folder, (origin) => shownBy(origin, app)),
  },
]);
