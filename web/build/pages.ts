/**
 * Importing this builds the pages of `web/` into `dist/web/`. It calls esbuild itself: Vite would
 * save some twenty lines, for a configuration and one more package.
 */
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { createHash } from "node:crypto";
import manifest from "../../data/snapshot/manifest.json" with { type: "json" };
import { build, type BuildOptions, type Metafile, type Plugin } from "esbuild";
import { WORDS } from "../explorer/words/en.ts";
import { cityNames, otherNames, rankPlaces, servedPlaces } from "./search-files.ts";
import { suggestionFiles } from "./suggestions.ts";
import { docsChapters, docsPages } from "./docs-content.ts";
import { describeContract, packClient } from "./for-clients.ts";
import { openApiDocument } from "./openapi-document.ts";

const SOURCE = "web";
const SNAPSHOT = "data/snapshot";
const OUT = "dist/web";
const CONTRACT = readFileSync("proto/locations/v1/locations.proto", "utf8");

interface Page {
  readonly name: "explorer" | "dashboard" | "docs" | "nothing";
  /** File that is served at the page's path. */
  readonly file: string;
  readonly title: string;
  readonly description: string;
  readonly entries: readonly string[];
  readonly content: string;
}

const NO_SCRIPT = "<noscript><p class='notice'>This page needs JavaScript.</p></noscript>";

const PAGES: readonly Page[] = [
  {
    name: "explorer",
    file: "index.html",
    title: "Locations at the Edge",
    description: "Every airport of the world with its city, country and regions, in one call.",
    entries: [`${SOURCE}/explorer/main.tsx`],
    // Without spaces, for which Preact would replace the elements.
    content: fillIn("explorer.html", {
      heading: WORDS.heading,
      introduction: WORDS.introduction,
    }).replaceAll(/>\s+</g, "><"),
  },
  {
    name: "dashboard",
    file: "dashboard.html",
    title: "Dashboard · Locations at the Edge",
    description: "Health, ingest runs, versions, alerts and backups, for operators.",
    entries: [`${SOURCE}/dashboard/main.tsx`, `${SOURCE}/style/dashboard.css`],
    content: NO_SCRIPT,
  },
  {
    name: "nothing",
    file: "404.html",
    title: "Nothing here · Locations at the Edge",
    description: "There is nothing at this address.",
    entries: [`${SOURCE}/style/base.css`],
    content: readFileSync(`${SOURCE}/pages/404.html`, "utf8"),
  },
  ...docsPages().map(({ path, title, content }) => ({
    name: "docs" as const,
    file: `${path.slice(1)}.html`,
    title: `${title} · Locations at the Edge`,
    description: `The documentation of Locations at the Edge: ${title}.`,
    entries: [`${SOURCE}/docs/main.tsx`, `${SOURCE}/style/docs.css`],
    content,
  })),
];

type Files = Map<string, string | Uint8Array>;

/** Makes files whose URLs scripts import as `generated:<name>`. */
const GENERATORS: { readonly [name: string]: () => string | Uint8Array | Promise<Uint8Array> } = {
  "worker.js": buildWorker,
  "world-110m.json": () => readFileSync("data/map/world-110m.json"),
  "world-50m.json": () => readFileSync("data/map/world-50m.json"),
  "world-water.json": () => readFileSync("data/map/world-water.json"),
};

const generated: Plugin = {
  name: "generated",
  setup(builder) {
    builder.onResolve({ filter: /^generated:/ }, ({ path }) => ({
      path: path.slice("generated:".length),
      namespace: "generated",
    }));
    builder.onLoad({ filter: /./, namespace: "generated" }, async ({ path }) => ({
      contents: (await GENERATORS[path]?.()) ?? "",
      loader: "file",
    }));
  },
};

const OPTIONS = {
  outdir: `${OUT}/assets`,
  entryNames: "[name]-[hash]",
  assetNames: "[name]-[hash]",
  chunkNames: "[name]-[hash]",
  publicPath: "/assets",
  bundle: true,
  format: "esm",
  target: ["es2023", "chrome123", "firefox121", "safari17.5"],
  minify: true,
  charset: "utf8",
  write: false,
  plugins: [generated],
  logLevel: "warning",
  // Browsers skip CSS with an error.
  logOverride: { "css-syntax-error": "error" },
} as const satisfies BuildOptions;

/** Files that the worker has for itself. */
const workerFiles: { readonly path: string; readonly contents: Uint8Array }[] = [];

async function buildWorker(): Promise<Uint8Array> {
  const entryPoints = [`${SOURCE}/explorer/worker.ts`];
  const { outputFiles } = await build({ ...OPTIONS, entryPoints });
  workerFiles.push(...outputFiles.filter(({ path }) => !path.endsWith(".js")));
  const script = outputFiles.find(({ path }) => path.endsWith(".js"));
  if (script === undefined) throw new Error("no worker was built");
  return script.contents;
}

// It runs beside the rest.
const packing = packClient();
const { outputFiles, metafile } = await build({
  ...OPTIONS,
  entryPoints: [...new Set(PAGES.flatMap(({ entries }) => entries))],
  splitting: true,
  jsx: "automatic",
  jsxImportSource: "preact",
  metafile: true,
});
// Inlined in the explorer's HTML, to call and to draw before anything else is loaded.
const EARLY_CALL = await minify("explorer/early-call.js");
const EARLY_STYLE = await minify("style/explorer.css");

const files: Files = new Map(
  [...outputFiles, ...workerFiles].map(({ path, contents }) => [
    path.slice(path.indexOf(`${OUT}/`) + OUT.length + 1),
    contents,
  ]),
);
for (const page of PAGES) files.set(page.file, renderPage(page, metafile));
files.set("docs/chapters.json", JSON.stringify(docsChapters()));
files.set("openapi.json", JSON.stringify(openApiDocument(CONTRACT)));
const [names, served, cities] = [otherNames(), servedPlaces(), cityNames()];
files.set("search/v1/names.json", JSON.stringify(names));
files.set("search/v1/ranks.json", JSON.stringify(rankPlaces()));
files.set("search/v1/served.json", JSON.stringify(served));
for (const [path, file] of await suggestionFiles({ served, names, cities })) files.set(path, file);
for (const [locale, file] of cities)
  files.set(`search/v1/cities/${locale}.json`, JSON.stringify(file));
files.set("service-worker.js", await buildServiceWorker(files));
files.set("client.tgz", await packing);
files.set("locations.binpb", describeContract());
files.set("locations.proto", CONTRACT);
for (const name of readdirSync(SNAPSHOT, { recursive: true }).map(String))
  if (name.endsWith(".gz"))
    files.set(`snapshot/${manifest.snapshot}/${name}`, readFileSync(`${SNAPSHOT}/${name}`));
files.set("assets/favicon.svg", readFileSync(`${SOURCE}/pages/favicon.svg`));
files.set("_headers", fillIn("headers.txt", { call: hash(EARLY_CALL), style: hash(EARLY_STYLE) }));
replaceFiles(files);

async function minify(name: string): Promise<string> {
  const {
    outputFiles: [file],
  } = await build({ ...OPTIONS, entryPoints: [`${SOURCE}/${name}`] });
  if (file === undefined) throw new Error(`nothing was built of ${name}`);
  return file.text.trim();
}

/** As a Content-Security-Policy names what it allows within HTML. */
function hash(text: string): string {
  return `sha256-${createHash("sha256").update(text).digest("base64")}`;
}

/** Builds the script that keeps the explorer's files: all but those of the other pages. */
async function buildServiceWorker(built: Files): Promise<Uint8Array> {
  const ofOthers = Object.entries(metafile.outputs).flatMap(([path, { entryPoint = "" }]) =>
    /\/(?:dashboard|docs)[./]/.test(entryPoint) ? [path.slice(OUT.length + 1)] : [],
  );
  const ofSearch = ["search/v1/names.json", "search/v1/ranks.json"];
  const ofExplorer = [...built.keys()].filter(
    (name) => name.startsWith("assets/") && !ofOthers.includes(name),
  );
  const kept = [...ofExplorer, "assets/favicon.svg", ...ofSearch];
  const paths = JSON.stringify(kept.map((name) => `/${name}`));
  // Names in assets/ say what the content is, and those of the search's files do not.
  const content = createHash("sha256").update(paths);
  for (const name of ofSearch) content.update(built.get(name) ?? "");
  const digest = content.digest("hex").slice(0, 12);
  const {
    outputFiles: [script],
  } = await build({
    ...OPTIONS,
    entryPoints: [`${SOURCE}/explorer/service-worker.ts`],
    format: "iife",
    define: { FILES: paths, CACHE: JSON.stringify(`explorer-${digest}`) },
  });
  if (script === undefined) throw new Error("no service worker was built");
  return script.contents;
}

function renderPage({ name, title, description, entries, content }: Page, built: Metafile): string {
  const head = entries.flatMap((entry) => linksFor(entry, built));
  if (name === "explorer")
    head.unshift(`<script>${EARLY_CALL}</script>`, `<style>${EARLY_STYLE}</style>`);
  const values: { [key: string]: string } = { name, title, description, content };
  values["head"] = head.join("\n    ");
  values[`current-${name}`] = 'aria-current="page"';
  return fillIn("layout.html", values);
}

/** Fills the {{gaps}} of a file of `web/pages/`. */
function fillIn(name: string, values: { readonly [gap: string]: string }): string {
  const text = readFileSync(`${SOURCE}/pages/${name}`, "utf8");
  return text.replaceAll(/\{\{([a-z-]+)\}\}/g, (_, gap: string) => values[gap] ?? "");
}

/** The elements that load an entry, and early what it imports. */
function linksFor(entry: string, { outputs }: Metafile): string[] {
  const [path, output] =
    Object.entries(outputs).find(([, { entryPoint }]) => entryPoint === entry) ?? [];
  if (path === undefined || output === undefined) throw new Error(`nothing was built of ${entry}`);
  const url = path.slice(OUT.length);
  if (url.endsWith(".css")) return [`<link rel="stylesheet" href="${url}" />`];
  const chunks = output.imports.filter(({ kind }) => kind === "import-statement");
  return [
    ...chunks.map((chunk) => `<link rel="modulepreload" href="${chunk.path.slice(OUT.length)}" />`),
    `<script type="module" src="${url}"></script>`,
  ];
}

/**
 * Makes the folder hold these files and no others. Equal files stay untouched, so that a running
 * Worker, which watches the folder, is not restarted for nothing.
 */
function replaceFiles(wanted: Files): void {
  mkdirSync(OUT, { recursive: true });
  for (const entry of readdirSync(OUT, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    if (entry.isFile() && !wanted.has(path.slice(OUT.length + 1))) rmSync(path);
  }
  for (const [name, content] of wanted) {
    const path = join(OUT, name);
    const bytes = Buffer.from(content);
    if (readIfAny(path)?.equals(bytes)) continue;
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, bytes);
  }
}

function readIfAny(path: string): Buffer | undefined {
  try {
    return readFileSync(path);
  } catch {
    return undefined;
  }
}
