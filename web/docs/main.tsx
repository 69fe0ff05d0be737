/** Makes the page's examples call this service, copies them, opens the targets of links, and searches. */
import { render } from "preact";
import { CopyButton } from "../shared/copy-button.tsx";
import { DocsSearch } from "./docs-search.tsx";

/** Where the examples find the service, on this machine and deployed. */
const EXAMPLE_ORIGIN = /http:\/\/127\.0\.0\.1:8787|https:\/\/locations\.example\.com/g;
const withOwnOrigin = (text: string) => text.replaceAll(EXAMPLE_ORIGIN, window.location.origin);

for (const code of document.querySelectorAll("code")) {
  const texts = document.createTreeWalker(code, NodeFilter.SHOW_TEXT);
  for (let text = texts.nextNode(); text !== null; text = texts.nextNode())
    text.nodeValue = withOwnOrigin(text.nodeValue ?? "");
}
for (const link of document.links) link.href = withOwnOrigin(link.href);

for (const block of document.querySelectorAll("pre.code-block:not(.output)")) {
  const frame = document.createElement("div");
  const copy = document.createElement("span");
  frame.className = "code-frame";
  block.replaceWith(frame);
  frame.append(block, copy);
  render(<CopyButton label="Copy" text={() => block.textContent ?? ""} />, copy);
}

const search = document.createElement("div");
document.querySelector(".docs-nav")?.prepend(search);
render(<DocsSearch />, search);

/** Opens the operation or schema that the address names. */
function openNamed(): void {
  const named = document.getElementById(window.location.hash.slice(1));
  const details = named?.closest("details");
  if (details) details.open = true;
}

window.addEventListener("hashchange", openNamed);
openNamed();
