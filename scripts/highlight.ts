import { escapeHtml } from "./html.ts";

/** Kinds of tokens with their patterns, in the order in which they are tried. */
type Tokens = readonly (readonly [kind: string, pattern: string])[];

const STRING = String.raw`"(?:[^"\\\n]|\\.)*"|'[^'\n]*'`;
const SHELL: Tokens = [
  ["comment", String.raw`(?<=^|\s)#[^\n]*`],
  ["string", STRING],
  ["keyword", String.raw`(?<=\s)--?[a-z][\w-]*`],
];
const SCRIPT: Tokens = [
  ["comment", String.raw`\/\/[^\n]*`],
  ["string", STRING],
  ["keyword", String.raw`\b(?:import|from|const|type|await|export|return|new|true|false)\b`],
  ["type", String.raw`\b[A-Z][A-Za-z0-9]+\b`],
];
const YAML: Tokens = [
  ["comment", String.raw`(?<=^|\s)#[^\n]*`],
  ["keyword", String.raw`(?<=^|\n)[ -]*[\w-]+(?=:)`],
];

const LANGUAGES: { readonly [language: string]: Tokens } = {
  sh: SHELL,
  ts: SCRIPT,
  js: SCRIPT,
  json: SCRIPT,
  yaml: YAML,
  proto: [
    ["comment", String.raw`\/\/[^\n]*`],
    ["string", STRING],
    [
      "keyword",
      String.raw`\b(?:syntax|package|service|rpc|returns|option|message|reserved|repeated|to|bytes|string|double)\b`,
    ],
    ["number", String.raw`\b\d+\b`],
    ["type", String.raw`\b[A-Z][A-Za-z0-9]+\b`],
  ],
};

/** Colors a source text as HTML. `link` makes the HTML of some tokens itself. */
export function highlight(
  source: string,
  language: string,
  link?: (token: string, before: string) => string | undefined,
): string {
  const tokens = LANGUAGES[language] ?? [];
  if (tokens.length === 0) return escapeHtml(source);
  const named = tokens.map(([kind, pattern]) => `(?<${kind}>${pattern})`);
  let html = "";
  let end = 0;
  let before = "";
  for (const match of source.matchAll(new RegExp(named.join("|"), "g"))) {
    const [text] = match;
    const kind = tokens.find(([name]) => match.groups?.[name] !== undefined)?.[0];
    const colored = `<span class="token-${kind}">${escapeHtml(text)}</span>`;
    html += escapeHtml(source.slice(end, match.index)) + (link?.(text, before) ?? colored);
    end = match.index + text.length;
    before = text;
  }
  return html + escapeHtml(source.slice(end));
}
