import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { docsPages } from "../../../scripts/docs-content.ts";

const PAGES = [
  "README.md",
  "CHANGELOG.md",
  "CONTRIBUTING.md",
  "client/README.md",
  "data/README.md",
  ...markdownIn("docs"),
];

describe.each(PAGES)("%s", (page) => {
  const text = readFileSync(page, "utf8");

  it("links only to existing files and headings", () => {
    const links = [...text.matchAll(/\]\(([^)\s]+)\)/g)].map(([, link = ""]) => link);
    const broken = links.filter((link) => !/^https?:/.test(link) && !leadsSomewhere(page, link));
    expect(broken).toEqual([]);
  });

  it("names only existing files", () => {
    const roots = "(?:src|client|test|docs|scripts|bench|examples|proto|data|\\.github)/";
    const named = text.matchAll(new RegExp(`\`(${roots}[\\w./-]+)\``, "g"));
    const missing = [...named].map(([, path = ""]) => path).filter((path) => !existsSync(path));
    expect(missing).toEqual([]);
  });

  it("names only existing npm scripts", () => {
    const { scripts } = JSON.parse(readFileSync("package.json", "utf8")) as {
      readonly scripts: { readonly [name: string]: string };
    };
    const named = [...text.matchAll(/npm run ([\w:]+)(?! --prefix)/g)].map(([, name = ""]) => name);
    const own = page === "data/README.md" ? [] : named;
    expect(own.filter((name) => !(name in scripts))).toEqual([]);
  });
});

describe("the README", () => {
  it("links to every page of docs/", () => {
    const readme = readFileSync("README.md", "utf8");
    expect(markdownIn("docs").filter((page) => !readme.includes(`](${page})`))).toEqual([]);
  });
});

describe("the pages below /docs", () => {
  const pages = docsPages();

  it("are those of docs/ and the page of the routes", () => {
    expect(pages).toHaveLength(markdownIn("docs").length + 1);
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

/** Whether a link's file has its heading. */
function leadsSomewhere(page: string, link: string): boolean {
  const [path = "", heading] = link.split("#");
  const file = path === "" ? page : join(dirname(page), path);
  if (!existsSync(file)) return false;
  if (heading === undefined) return true;
  const headings = readFileSync(file, "utf8").matchAll(/^#+ (.*)$/gm);
  return [...headings].some(([, text = ""]) => anchorOf(text) === heading);
}

/** The anchor that GitHub gives a heading. */
function anchorOf(heading: string): string {
  return heading
    .toLowerCase()
    .replaceAll(/[^\w -]/g, "")
    .replaceAll(" ", "-");
}
