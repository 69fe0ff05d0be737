import { render } from "preact";
import { Explorer } from "./explorer.tsx";

const root = document.getElementById("explorer");
if (root === null) throw new Error("the page has no element #explorer");
// This runs in a task of its own, so that no task takes long.
setTimeout(() => {
  root.replaceChildren();
  render(<Explorer />, root);
});
