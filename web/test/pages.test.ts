import { Code } from "@connectrpc/connect";
import { codeToString } from "@connectrpc/connect/protocol-connect";
import { existsSync, globSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { docsPages } from "../build/docs-content.ts";
import { slugOf } from "../build/html.ts";
import { openApiDocument } from "../build/openapi-document.ts";
import { SETTING_NAMES } from "../../src/monitor/settings.ts";
import type { AirportRecord } from "../../src/schemas/held-change.ts";
import { HELD_RULES } from "../../src/schemas/held-rules.ts";
import { HELD_STATES } from "../../src/schemas/held-change.ts";
import { RUN_OUTCOMES } from "../../src/schemas/run-report.ts";
import { readServingConfig } from "../../src/platform/serving-config.ts";
import { HEDGE_AFTER_MS } from "../../src/storage/store-reads.ts";
import { ALERT_STATES } from "../../src/schemas/alert-run.ts";
import { VERDICT_STATES } from "../../src/schemas/backup.ts";
import { SOURCE_NAMES, STAGES } from "../../src/schemas/run-words.ts";
import { OVERRIDABLE, OVERRIDDEN } from "../../src/schemas/overridable.ts";

/** The drawings, and what each says as the code does. */
const { config } = readServingConfig({});
const DRAWINGS: [string, readonly string[]][] = [
  [
    "request",
    [
      `keeps the manifest for ${config.manifestFreshMs / 1000} s`,
      `${config.cacheMaxBytes / 2 ** 20} MiB of parts`,
      `silent for ${HEDGE_AFTER_MS} ms`,
    ],
  ],
  ["held-change", HELD_STATES],
  ["run", [STAGES.join(" "), ...RUN_OUTCOMES]],
  ["alert", ALERT_STATES],
];

/** What the page on upstream calls the fields of an airport. */
const FIELDS = {
  iata: "codes",
  icao: "codes",
  name: "name",
  lat: "position",
  lon: "position",
  country: "country",
  region: "subdivision",
  municipality: "municipality",
  type: "size",
  scheduled: "scheduled service",
} satisfies Record<keyof AirportRecord, string>;

const PAGES = globSync("{,client/,data/,docs/}*.md").toSorted();

/** Secrets, a binding, the environment of commands and workflows, constants, a file, HTTP methods, a city. */
const OTHER_NAMES = new Set(
  (
    "ADMIN_TOKENS ALERT_PING_URL ALERT_WEBHOOKS METRICS AUTH CHROMIUM URL " +
    "CODINGS GROUPS RULES MANIFEST_FORMAT LICENSE NOTICE DELETE GET HEAD POST LON NULL"
  ).split(" "),
);

/** Words of other programs and of a source. */
const OTHER_WORDS = ["http_gzip_support", "ref_airport_pageranked", "proxy_cache_revalidate"];

/** The words, such as `run_not_found`, of what the service, the contract and the snapshot are made of. */
const WORDS = new Set([
  ...wordsIn(
    globSync(["src/**/*.{ts,tsx}", "data/build/*.ts", "proto/**/*.proto", "wrangler.toml"]),
  ),
  ...Object.values(Code).flatMap((code) => (typeof code === "number" ? codeToString(code) : [])),
  ...OTHER_WORDS,
]);

/** Codes and events that the code puts together. */
const COMPOSED = [/^source_(\w+)$/, /^(\w+)_unavailable$/, /^(\w+)_step_failed$/];

describe.each(PAGES)("%s", (page) => {
  const text = readFileSync(page, "utf8");

  it("links only to existing files and headings", () => {
    const links = [...text.matchAll(/\]\(([^)\s]+)\)/g)].map(([, link = ""]) => link);
    const broken = links.filter((link) => !/^https?:/.test(link) && !leadsSomewhere(page, link));
    expect(broken).toEqual([]);
  });
});

/** A changelog also names what is gone. */
describe.each(PAGES.filter((page) => page !== "CHANGELOG.md"))("%s", (page) => {
  const text = readFileSync(page, "utf8");

  it("names only existing files", () => {
    const roots =
      "(?:src|client|web|test|docs|scripts|bench|examples|proto|gen|migrations|data|\\.github|\\.ci)/";
    const named = text.matchAll(new RegExp(`\`(${roots}[\\w./-]+)\``, "g"));
    const missing = [...named].map(([, path = ""]) => path).filter((path) => !existsSync(path));
    expect(missing).toEqual([]);
  });

  it("names only existing npm scripts", () => {
    const own = join(dirname(page), "package.json");
    const scripts = ["package.json", ...(existsSync(own) ? [own] : [])].flatMap(scriptsOf);
    const named = [...text.matchAll(/npm run ([\w:-]+)/g)].map(([, name = ""]) => name);
    expect(named.filter((name) => !scripts.includes(name))).toEqual([]);
  });

  it("names only existing settings", () => {
    const named = spansOf(text).map((span) => /^[A-Z][A-Z0-9_]{2,}(?= = |$)/.exec(span)?.[0] ?? "");
    const unknown = named.filter((name) => name !== "" && !OTHER_NAMES.has(name));
    expect(unknown.filter((name) => !SETTING_NAMES.includes(name))).toEqual([]);
  });

  it("names only codes, fields and events that the code has", () => {
    const named = spansOf(text).flatMap(
      (span) => span.match(/(?<![\w./-])[a-z]+(?:_[a-z]+)+\b/g) ?? [],
    );
    expect(named.filter((word) => !isWord(word))).toEqual([]);
  });
});

describe.each([
  ["docs/upstream.md", "Sources", SOURCE_NAMES],
  ["docs/upstream.md", "Guards", Object.keys(OVERRIDABLE)],
  ["docs/alerts.md", "States", ALERT_STATES],
  ["docs/backups.md", "Backups", VERDICT_STATES],
])("the list in %s under %s", (page, heading, names) => {
  it("has the values that the code has", () => {
    const listed = itemsOf(chapterOf(page, heading));
    expect(listed.toSorted()).toEqual([...names].toSorted());
  });
});

it("docs/upstream.md says which guards force overrides, and ranks the rules as the code does", () => {
  const [overridden = "", others = ""] = chapterOf("docs/upstream.md", "Guards").split("Nothing");
  expect(itemsOf(overridden).toSorted()).toEqual(OVERRIDDEN.toSorted());
  expect(others).toMatch(/^ overrides these:\n\n- /);
  expect(itemsOf(chapterOf("docs/upstream.md", "Rules"))).toEqual(HELD_RULES);
});

/** The routes that the service was asked for. */
const SPECIFIED = [
  "POST /admin/ingest/pause",
  "POST /admin/ingest/resume",
  "POST /admin/ingest/queue",
  "GET /admin/ingest/runs",
  "POST /admin/backup/run",
  "GET /admin/backup/list",
  "GET /admin/alerts/runs",
  "GET /admin/monitor/status",
  "GET /dashboard/summary",
  "GET /catalog/health",
];

describe("the README", () => {
  it("has a table of the routes that the service was asked for, as OpenAPI describes them", () => {
    const rows = tableOf(readFileSync("README.md", "utf8"), "method");
    expect(rows.map(([method, path]) => `${method} ${path?.replaceAll("`", "")}`)).toEqual(
      SPECIFIED,
    );
    const { paths } = openApiDocument(readFileSync("proto/locations/v1/locations.proto", "utf8"));
    for (const [method = "", path = ""] of SPECIFIED.map((route) => route.split(" ")))
      expect(paths?.[path]).toHaveProperty(method.toLowerCase());
  });

  it("links to every page of docs/", () => {
    const readme = readFileSync("README.md", "utf8");
    expect(markdownIn("docs").filter((page) => !readme.includes(`](${page})`))).toEqual([]);
  });
});

describe("the pages below /docs", () => {
  const pages = docsPages();

  it("are those of docs/, at the names of their files, the welcome, the package, the routes and the credits", () => {
    const ofFiles = markdownIn("docs").map((file) => `/${file.replace(/\.md$/, "")}`);
    const all = ["/docs", "/docs/credits", "/docs/package", "/docs/routes", ...ofFiles];
    expect(pages.map(({ path }) => path).toSorted()).toEqual(all.toSorted());
  });

  it("start with a welcome, which has a call and leads to every other page", () => {
    const [welcome, ...others] = pages;
    expect(welcome?.content).toMatch(/<h2 id="one-call">.*GetLocationsV1/s);
    const [, text = ""] = /docs-body(.*)<nav class="row/s.exec(welcome?.content ?? "") ?? [];
    expect(others.filter(({ path }) => !text.includes(`href="${path}`))).toEqual([]);
  });

  it.each(DRAWINGS)("show the drawing %s, which names what the code has", (name, words) => {
    const drawing = readFileSync(`docs/drawings/${name}.svg`, "utf8");
    const said = [...drawing.matchAll(/>([^<>]+)<\/text>/g)].map(([, text = ""]) => text).join(" ");
    expect(words.filter((word) => !said.includes(word))).toEqual([]);
    for (const style of ["color: #161b21", "prefers-color-scheme: dark"])
      expect(drawing).toContain(style);
    const shown = pages.filter(({ content }) => content.includes(`id="${name}-end"`));
    expect(shown).toHaveLength(1);
    expect(shown[0]?.content).not.toContain("<style>");
  });

  it("show an example of the body and of the answer of each operation that has them", () => {
    const routes = pages.find(({ path }) => path === "/docs/routes")?.content ?? "";
    const [, pause = ""] = /id="pauseIngestion"(.*?)<\/details>/s.exec(routes) ?? [];
    expect(pause).toMatch(/Example of the body.*&quot;note&quot;: &quot;bad names&quot;/s);
    expect(pause).toMatch(/Example of 200.*&quot;paused&quot;: true/s);
    expect(routes.split("Example of ").length).toBeGreaterThan(30);
  });

  it.each(pages)("$path links only to existing pages and headings", ({ path, content }) => {
    const links = [...content.matchAll(/href="((?:\/docs[^"#]*)?(?:#[^"]*)?)"/g)];
    const broken = links.filter(([, link = ""]) => {
      const [to = "", id] = link.split("#");
      const target = pages.find((page) => page.path === (to || path));
      return target === undefined || !(id === undefined || target.content.includes(` id="${id}"`));
    });
    expect(links.length).toBeGreaterThanOrEqual(pages.length);
    expect(broken.map(([, link]) => link)).toEqual([]);
  });
});

function markdownIn(folder: string): string[] {
  return readdirSync(folder)
    .filter((name) => name.endsWith(".md"))
    .map((name) => `${folder}/${name}`);
}

/** The scripts of a package. */
function scriptsOf(file: string): string[] {
  const { scripts = {} } = JSON.parse(readFileSync(file, "utf8")) as { readonly scripts?: object };
  return Object.keys(scripts);
}

function wordsIn(files: readonly string[]): string[] {
  return files.flatMap((file) => readFileSync(file, "utf8").match(/[a-z]+(?:_[a-z]+)*/g) ?? []);
}

function isWord(word: string): boolean {
  const parts = COMPOSED.map((pattern) => pattern.exec(word)?.[1]);
  return [word, ...parts].some((each) => each !== undefined && WORDS.has(each));
}

function withoutBlocks(text: string): string {
  return text.replaceAll(/^```[^]*?^```$/gm, "");
}

/** The code within a page's sentences. */
function spansOf(text: string): string[] {
  return [...withoutBlocks(text).matchAll(/`([^`\n]+)`/g)].map(([, span = ""]) => span);
}

/** What a page has under a heading, up to the next one. */
function chapterOf(page: string, heading: string): string {
  const chapters = withoutBlocks(readFileSync(page, "utf8")).split(/^#+ /m);
  return chapters.find((chapter) => chapter.startsWith(`${heading}\n`)) ?? "";
}

/** The names with which the items of lists start. */
function itemsOf(text: string): string[] {
  return [...text.matchAll(/^- `(\w+)`/gm)].map(([, name = ""]) => name);
}

/** The cells of the table whose first column has this title, row by row. */
function tableOf(text: string, title: string): string[][] {
  const tables = text.match(/^\|.*\n\| ?:?-.*\n(?:\|.*\n)+/gm) ?? [];
  const rows = tables.map((table) => table.trim().split("\n").map(cellsOf));
  const [, , ...found] = rows.find(([first]) => first?.[0] === title) ?? [];
  return found;
}

function cellsOf(row: string): string[] {
  return row
    .split("|")
    .slice(1, -1)
    .map((cell) => cell.trim());
}

/** Whether a link's file has its heading. */
function leadsSomewhere(page: string, link: string): boolean {
  const [path = "", heading] = link.split("#");
  const file = path === "" ? page : join(dirname(page), path);
  if (!existsSync(file)) return false;
  if (heading === undefined) return true;
  const headings = withoutBlocks(readFileSync(file, "utf8")).matchAll(/^#+ (.*)$/gm);
  return [...headings].some(([, text = ""]) => slugOf(text) === heading);
}

it("docs/upstream.md names each field of an airport whose change waits", () => {
  const [, said = ""] =
    /whole record: ([^.]+)\./.exec(readFileSync("docs/upstream.md", "utf8")) ?? [];
  for (const name of Object.values(FIELDS)) expect(said).toContain(name);
});
