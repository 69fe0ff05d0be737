import { render } from "preact";
import { Explorer } from "./explorer.tsx";

const root = document.getElementById("explorer");
if (root === null) throw new Error("the page has no element #explorer");
// In a task of its own, so that no task takes long. What the page has already, Preact takes over.
setTimeout(() => render(<Explorer />, root));
