import { highlight } from "./highlight.ts";

/** A .proto file with its comments, colored; the messages of its own are linked to each other. */
export function protoHtml(source: string): string {
  const own = new Set([...source.matchAll(/^(?:message|service) (\w+)/gm)].map(([, name]) => name));
  const html = highlight(source, "proto", (token, before) => {
    if (!own.has(token)) return undefined;
    if (before === "message" || before === "service")
      return `<span class="token-type" id="proto-${token}">${token}</span>`;
    return `<a class="token-type" href="#proto-${token}">${token}</a>`;
  });
  return `<pre class="code-block proto" tabindex="0" aria-label="locations.proto"><code>${html}</code></pre>`;
}
