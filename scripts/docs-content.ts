import { readFileSync } from "node:fs";
import { Marked, Renderer, type Tokens } from "marked";
import { highlight } from "./highlight.ts";
import { slugOf } from "./html.ts";
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

const CLIENTS = "/docs";

/** Pages of docs/, in the order of the navigation. */
const GUIDES: { readonly [file: string]: string } = {
  "clients.md": CLIENTS,
  "operating.md": "/docs/operating",
  "alerts.md": "/docs/alerts",
  "backups.md": "/docs/backups",
  "upstream.md": "/docs/upstream",
  "deploying.md": "/docs/deploying",
  "platform.md": "/docs/platform",
  "architecture.md": "/docs/architecture",
  "performance.md": "/docs/performance",
  "developing.md": "/docs/developing",
};
/** Chapters of README that callers need. */
const CHAPTERS = ["A browser client", "Locales", "Errors"];

/** The pages below /docs: those of docs/, with the contract, the routes and the credits. */
export function docsPages(): DocsPage[] {
  const guides = [...Object.keys(GUIDES).map(readGuide), routesGuide()];
  return guides.map((guide) => {
    const { path, title, html } = guide;
    const content = `
      <nav class="docs-nav" aria-label="Documentation">
        <ul>${guides.map((other) => navItem(other, other === guide)).join("")}</ul>
      </nav>
      <div class="docs-body"><h1>${title}</h1>${html}</div>`;
    return { path, title, content };
  });
}

/** A link to a page and, on that page, to its headings. */
function navItem({ path, title, html }: Guide, isCurrent: boolean): string {
  if (!isCurrent) return `<li><a href="${path}">${title}</a></li>`;
  const inner = [...html.matchAll(/<h2 id="([^"]+)">(.+?)<\/h2>/g)]
    .map(([, id, text]) => `<li><a href="#${id}">${text}</a></li>`)
    .join("");
  return `<li><a href="${path}" aria-current="page">${title}</a><ul>${inner}</ul></li>`;
}

function readGuide(file: string): Guide {
  const path = GUIDES[file] ?? CLIENTS;
  const text = readFileSync(`docs/${file}`, "utf8");
  const [heading = "", ...lines] = text.split("\n");
  const title = heading.replace("# ", "");
  const body = markdownHtml(lines.join("\n"));
  return { path, title, html: path === CLIENTS ? forCallers(body) : body };
}

function routesGuide(): Guide {
  const document = openApiDocument() as unknown as OpenApiDocument; // its parts that are shown
  const html = openApiHtml(document);
  return { path: "/docs/routes", title: "HTTP routes", html };
}

function forCallers(html: string): string {
  const readme = readFileSync("README.md", "utf8");
  const chapters = CHAPTERS.map((title) => `## ${title}\n${chapter(readme, title)}`);
  return [markdownHtml(chapters.join("\n")), html, contractHtml(), creditsHtml(readme)].join("\n");
}

function contractHtml(): string {
  const proto = readFileSync("proto/locations/v1/locations.proto", "utf8");
  return `<h2 id="the-contract">The contract</h2><p><code>proto/locations/v1/locations.proto</code>, as the service is built from it: <a href="/locations.proto" download>download it</a>.</p>${protoHtml(proto)}`;
}

function creditsHtml(readme: string): string {
  const title = "Licences and credits";
  const code = `${chapter(readme, title).split(". ")[0]}.`;
  const data = readFileSync("data/NOTICE.md", "utf8")
    .replace(/^# .*\n/, "")
    .replaceAll("\n## ", "\n### ");
  const map = `The outline of the world on the explorer's map is made from [Natural Earth](https://www.naturalearthdata.com/) (public domain), through the package world-atlas (ISC).`;
  return markdownHtml(`## ${title}\n${code}\n\n### Data\n${data}\n### Map\n\n${map}`);
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
  override table(token: Tokens.Table): string {
    return `<div class="scroll" tabindex="0" role="group" aria-label="Table">${super.table(token)}</div>`;
  }

  /** Links that lead into the repository are shown as text. */
  override link(token: Tokens.Link): string {
    const href = hrefOf(token.href);
    return href === undefined
      ? this.parser.parseInline(token.tokens)
      : super.link({ ...token, href });
  }

  /** The pages that the pictures show are at hand. */
  override image(): string {
    return "";
  }

  override code({ text, lang = "" }: Tokens.Code): string {
    return `<pre class="code-block" tabindex="0"><code>${highlight(text, lang)}</code></pre>`;
  }

  /** The navigation leads to these. */
  override heading({ text, depth, tokens }: Tokens.Heading): string {
    return `<h${depth} id="${slugOf(text)}">${this.parser.parseInline(tokens)}</h${depth}>`;
  }
}

/** Where a link of README or docs/ leads here; undefined if nowhere. */
function hrefOf(href: string): string | undefined {
  if (/^(?:https?:|#)/.test(href)) return href;
  const [file = "", fragment] = href.split("#");
  const page = GUIDES[file.replace("docs/", "")];
  return fragment === undefined ? page : page && `${page}#${fragment}`;
}

const marked = new Marked();

/** Files of this repository are trusted. */
function markdownHtml(markdown: string): string {
  return marked.parse(markdown, { async: false, renderer: new DocsRenderer() });
}
