import { readFileSync } from "node:fs";
import { Marked, Renderer, type Tokens } from "marked";
import { highlight } from "./highlight.ts";
import { slugOf } from "./html.ts";
import { openApiDocument } from "./openapi-document.ts";
import { openApiHtml } from "./openapi-html.ts";
import { protoHtml } from "./proto-html.ts";

interface Section {
  readonly title: string;
  readonly html: string;
}

/** The page /docs: what callers need of the README, docs/clients.md, the contract, and the credits. */
export function docsContent(): string {
  const readme = readFileSync("README.md", "utf8");
  const clients = readFileSync("docs/clients.md", "utf8").replace(/^# .*\n/, "");
  const proto = readFileSync("proto/locations/v1/locations.proto", "utf8");
  const notice = readFileSync("data/NOTICE.md", "utf8");
  const sections: readonly Section[] = [
    ...["A browser client", "Locales", "Errors"].map((title) => ({
      title,
      html: markdownHtml(chapter(readme, title)),
    })),
    { title: "Clients", html: markdownHtml(clients.replaceAll("\n## ", "\n### ")) },
    { title: "The contract", html: contractHtml(proto) },
    { title: "Operating", html: operatingHtml() },
    { title: "Licences and credits", html: creditsHtml(readme, notice) },
  ];
  return `
      <nav class="docs-nav" aria-label="On this page">
        <ul>${sections.map(navItem).join("")}</ul>
      </nav>
      <div class="docs-body">
        <h1>Documentation</h1>
        ${sections.map(sectionHtml).join("\n")}
      </div>`;
}

/** A link to a section, and to what its headings name. */
function navItem({ title, html }: Section): string {
  const inner = [...html.matchAll(/<h3 id="([^"]+)">(.+?)<\/h3>/g)]
    .map(([, id, text]) => `<li><a href="#${id}">${text}</a></li>`)
    .join("");
  const list = inner === "" ? "" : `<ul>${inner}</ul>`;
  return `<li><a href="#${slugOf(title)}">${title}</a>${list}</li>`;
}

function sectionHtml({ title, html }: Section): string {
  return `<section id="${slugOf(title)}"><h2>${title}</h2>${html}</section>`;
}

function contractHtml(proto: string): string {
  return `<p><code>proto/locations/v1/locations.proto</code>, as the service is built from it: <a href="/locations.proto" download>download it</a>.</p>${protoHtml(proto)}`;
}

function operatingHtml(): string {
  return `<p>Plain HTTP and JSON. Routes below <code>/admin</code> want <code>Authorization: Bearer &lt;token&gt;</code>, or Cloudflare Access in front of them. Errors are problem+json (RFC 9457). A running service describes them at <code>/admin/openapi.json</code> (OpenAPI 3.1).</p>${openApiHtml(openApiDocument())}`;
}

function creditsHtml(readme: string, notice: string): string {
  const code = markdownHtml(chapter(readme, "Licences and credits").split(". ")[0] + ".");
  const data = notice.replace(/^# .*\n/, "").replaceAll("\n## ", "\n### ");
  const map = `The outline of the world on the explorer's map is made from [Natural Earth](https://www.naturalearthdata.com/) (public domain), through the package world-atlas (ISC).`;
  return `${code}<h3>Data</h3>${markdownHtml(data)}<h3>Map</h3>${markdownHtml(map)}`;
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

  override link(token: Tokens.Link): string {
    return /^https?:/.test(token.href) ? super.link(token) : this.parser.parseInline(token.tokens);
  }

  override code({ text, lang = "" }: Tokens.Code): string {
    return `<pre class="code-block" tabindex="0"><code>${highlight(text, lang)}</code></pre>`;
  }

  /** The navigation leads to these. */
  override heading({ text, depth, tokens }: Tokens.Heading): string {
    return `<h${depth} id="${slugOf(text)}">${this.parser.parseInline(tokens)}</h${depth}>`;
  }
}

const marked = new Marked();

/** Files of this repository are trusted; links that lead into it are shown as text. */
function markdownHtml(markdown: string): string {
  return marked.parse(markdown, { async: false, renderer: new DocsRenderer() });
}
