/** Sources of small applications that show what they find of `münchen` in German. */
import { type App, type Place, run, shownBy, whileServing, whileServingFiles } from "./place.ts";

const SEARCH = `const [{ name, where }] = await catalog.search("münchen");
const found = \`\${name} | \${where}\`;`;

/** For a page: it shows what it has found, or why it has not, in an attribute. */
export const PAGE = `import { openCatalog } from "locations-at-the-edge-client";
export async function find() {
  const baseUrl = new URLSearchParams(location.search).get("service");
  const catalog = await openCatalog({ baseUrl, locale: "de" });
  ${SEARCH}
  return found;
}
export const show = (text) => { document.body.dataset.found = text; };
find().then(show, (error) => show(String(error)));
`;

export function html(script: string): string {
  return `<!doctype html><meta charset="utf-8"><title>Places</title><body><div id="app"></div><script type="module" src="${script}"></script></body>`;
}

/** A program whose argument is the address of the service. */
const PROGRAM = `const catalog = await openCatalog({ baseUrl: process.argv[2], locale: "de", folder: "store" });
${SEARCH}
console.log(found);
catalog.close();
`;

export const ESM = `import { openCatalog } from "locations-at-the-edge-client";\n${PROGRAM}`;

export const COMMONJS = `(async () => {
const { openCatalog } = await import("locations-at-the-edge-client");
${PROGRAM}})();
`;

export const REQUIRED = COMMONJS.replace("await import(", "require(");

/** A program that a command of the application's packages runs. */
export function program(
  name: string,
  packages: Place["packages"],
  [file, source]: readonly [file: string, source: string],
  command: readonly string[],
): Place {
  const [first = "", ...args] = command;
  return {
    name,
    packages,
    files: { [file]: source },
    enter: ({ folder, service }) => run(folder, first, ...args, file, service),
  };
}

/** Both ways of an application of Vite: as its server in development sends it, and built. */
export function viteApps(
  name: string,
  packages: Place["packages"],
  files: Place["files"],
  needsLine = true,
): readonly Place[] {
  const config = files["vite.config.js"] ?? viteConfig({ needsLine });
  const all = { "index.html": html("/main.js"), ...files, "vite.config.js": config };
  return [
    {
      name: `${name}, in development`,
      packages,
      files: all,
      enter: (app) =>
        whileServing(app.folder, ["vite", "--host=127.0.0.1", "--port={port}"], (origin) =>
          shownBy(origin, app),
        ),
    },
    { name: `${name}, built`, packages, files: all, enter: (app) => built(app, ["vite", "build"]) },
  ];
}

export function viteConfig({ needsLine = true, imports = "", plugins = "" }): string {
  const line = needsLine ? `optimizeDeps: { exclude: ["locations-at-the-edge-client"] },` : "";
  return `${imports}\nexport default { logLevel: "warn", ${line} plugins: [${plugins}] };\n`;
}

/** Builds an application into `dist/`, and shows it. */
export async function built(
  app: App,
  [command = "", ...args]: readonly string[],
  out = "dist",
): Promise<string> {
  await run(app.folder, command, ...args);
  return whileServingFiles(`${app.folder}/${out}`, (origin) => shownBy(origin, app));
}

/** The same place with a search that fetches no catalog. */
export function asPicker({ name, files, ...place }: Place): Place {
  const changed = Object.entries(files).map(([path, source]) => [
    path,
    source.replaceAll("openCatalog", "openSearch"),
  ]);
  return {
    ...place,
    name: `${name}, as a picker without the catalog`,
    files: Object.fromEntries(changed),
    shows: /^München \| Deutschland$/,
  };
}
