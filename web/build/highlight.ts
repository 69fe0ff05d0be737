import { createRequire } from "node:module";
import { escapeHtml } from "./html.ts";

interface Highlighter {
  registerLanguage(name: string, language: unknown): void;
  getLanguage(name: string): unknown;
  highlight(source: string, options: { readonly language: string }): { readonly value: string };
}

const require = createRequire(import.meta.url);

/** Its own types need those of a browser. */
const highlighter = require("highlight.js/lib/core") as Highlighter;
// Loading all of its languages would take longer than making the pages.
for (const name of ["bash", "ini", "javascript", "json", "protobuf", "typescript", "xml", "yaml"])
  highlighter.registerLanguage(name, require(`highlight.js/lib/languages/${name}`));

/** Colors a source text as HTML; leaves it as it is in an unknown language. */
export function highlight(source: string, language: string): string {
  return highlighter.getLanguage(language) === undefined
    ? escapeHtml(source)
    : highlighter.highlight(source, { language }).value;
}
