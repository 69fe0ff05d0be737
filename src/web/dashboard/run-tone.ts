import type { Run } from "./answers.ts";

/** Returns the color of a run by its outcome. */
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
