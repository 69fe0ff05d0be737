import type { Run } from "./answers.ts";

/** Color of a run's mark: what came of it. */
export function runTone({ state, outcome }: Run): "good" | "bad" | "busy" | "quiet" {
  switch (state) {
    case "failed":
      return "bad";
    case "running":
    case "queued":
      return "busy";
    case "succeeded":
      return outcome === "published" ? "good" : "quiet";
    case "cancelled":
    case "skipped":
      return "quiet";
    default:
      return state satisfies never;
  }
}
