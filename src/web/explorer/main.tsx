import { render } from "preact";
import { Explorer } from "./explorer.tsx";

const root = document.getElementById("explorer");
if (root === null) throw new Error("the page has no element #explorer");
// In a task of its own, so that none takes long.
setTimeout(() => {
  root.replaceChildren();
  render(<Explorer />, root);
});
