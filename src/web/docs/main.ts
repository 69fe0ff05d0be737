/** Makes the page's examples call this service, and copies them. */

/** Where README's examples find the service. */
const EXAMPLE_ORIGIN = "http://127.0.0.1:8787";
const SHOWN_MS = 2_000;

for (const block of document.querySelectorAll("pre.code-block")) {
  const texts = document.createTreeWalker(block, NodeFilter.SHOW_TEXT);
  for (let text = texts.nextNode(); text !== null; text = texts.nextNode())
    text.nodeValue = text.nodeValue?.replaceAll(EXAMPLE_ORIGIN, window.location.origin) ?? "";
  const frame = document.createElement("div");
  frame.className = "code-frame";
  block.replaceWith(frame);
  frame.append(
    block,
    copyButton(() => block.textContent ?? ""),
  );
}

function copyButton(text: () => string): HTMLButtonElement {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "button";
  const show = (word: string) => (button.textContent = word);
  show("Copy");
  button.setAttribute("aria-live", "polite");
  button.addEventListener("click", () => {
    // Browsers provide the clipboard only on secure origins.
    const written = navigator.clipboard?.writeText(text()) ?? Promise.reject(new Error("none"));
    written.then(
      () => show("Copied"),
      () => show("Select to copy"),
    );
    setTimeout(() => show("Copy"), SHOWN_MS);
  });
  return button;
}
