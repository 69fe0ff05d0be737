import { escapeHtml } from "./html.ts";

/** Comments, strings, keywords, numbers and names of types, in the order in which they are tried. */
const TOKENS: readonly (readonly [kind: string, pattern: string])[] = [
  ["comment", String.raw`\/\/[^\n]*`],
  ["string", String.raw`"[^"\n]*"`],
  [
    "keyword",
    String.raw`\b(?:syntax|package|service|rpc|returns|option|message|reserved|repeated|to|bytes|string|double)\b`,
  ],
  ["number", String.raw`\b\d+\b`],
  ["type", String.raw`\b[A-Z][A-Za-z0-9]+\b`],
];
const PATTERN = new RegExp(
  TOKENS.map(([kind, pattern]) => `(?<${kind}>${pattern})`).join("|"),
  "g",
);

/** A .proto file with its comments, colored; the messages of its own are linked to each other. */
export function protoHtml(source: string): string {
  const own = new Set([...source.matchAll(/^(?:message|service) (\w+)/gm)].map(([, name]) => name));
  let html = "";
  let end = 0;
  let before = "";
  for (const match of source.matchAll(PATTERN)) {
    const [text] = match;
    html += escapeHtml(source.slice(end, match.index));
    end = match.index + text.length;
    const kind = TOKENS.map(([name]) => name).find((name) => match.groups?.[name] !== undefined);
    html += tokenHtml(kind ?? "", text, own.has(text) ? before : undefined);
    before = text;
  }
  return `<pre class="code-block proto" tabindex="0" aria-label="locations.proto"><code>${html}${escapeHtml(source.slice(end))}</code></pre>`;
}

/** `before` is the token before the name of a message of this file. */
function tokenHtml(kind: string, text: string, before: string | undefined): string {
  const escaped = escapeHtml(text);
  if (before === "message" || before === "service")
    return `<span class="token-type" id="proto-${escaped}">${escaped}</span>`;
  if (before !== undefined) return `<a class="token-type" href="#proto-${escaped}">${escaped}</a>`;
  return `<span class="token-${kind}">${escaped}</span>`;
}
