import { createRequire } from "node:module";
import { escapeHtml } from "./html.ts";

interface Highlighter {
  getLanguage(name: string): unknown;
  highlight(source: string, options: { readonly language: string }): { readonly value: string };
}

/** Its own types need those of a browser. */
const highlighter = createRequire(import.meta.url)("highlight.js") as Highlighter;

/** Colors a source text as HTML; leaves it as it is in an unknown language. */
export function highlight(source: string, language: string): string {
  return highlighter.getLanguage(language) === undefined
    ? escapeHtml(source)
    : highlighter.highlight(source, { language }).value;
}
