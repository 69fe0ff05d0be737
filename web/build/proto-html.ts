import { highlight } from "./highlight.ts";

/** A .proto file with its comments, colored; the messages of its own are linked to each other. */
export function protoHtml(source: string): string {
  const own = [...source.matchAll(/^(?:message|service) (\w+)/gm)].map(([, name]) => name);
  const parts = new RegExp(
    String.raw`<span class="hljs-comment">[^<]*</span>|<span class="hljs-title class_">(\w+)</span>|\b(${own.join("|")})\b`,
    "g",
  );
  const html = highlight(source, "proto").replaceAll(
    parts,
    (part: string, defined: string | undefined, used: string | undefined) => {
      if (defined !== undefined) return part.replace("<span", `<span id="proto-${defined}"`);
      return used === undefined ? part : `<a class="hljs-title" href="#proto-${used}">${used}</a>`;
    },
  );
  return `<pre class="code-block proto" tabindex="0" aria-label="locations.proto"><code>${html}</code></pre>`;
}
