import { render } from "preact";
import { Explorer } from "./explorer.tsx";

const root = document.getElementById("explorer");
if (root === null) throw new Error("the page has no element #explorer");
// In a separate task, so that no task takes long. Preact hydrates the elements that the page has
// already.
setTimeout(() => render(<Explorer />, root));
