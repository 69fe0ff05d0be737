import { render } from "preact";
import { Dashboard } from "./dashboard.tsx";

const root = document.getElementById("dashboard");
if (root === null) throw new Error("the page has no element #dashboard");
root.replaceChildren();
render(<Dashboard />, root);
