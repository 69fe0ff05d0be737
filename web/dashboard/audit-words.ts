import { formatHash, formatTimesIn } from "../shared/format.ts";

/** Writes the state before and after an action; after a refused one, only the state before. */
export function changeText(before: unknown, after: unknown): string {
  if (before != null) return `${valueText(before)} → ${valueText(after)}`;
  return after != null ? valueText(after) : "";
}

/** Writes a document in the words of the pages: `note: maintenance, until: 2026-11-22 08:00 UTC`. */
export function valueText(value: unknown): string {
  if (value === null || value === undefined) return "–";
  if (typeof value === "string" && SHA256.test(value)) return formatHash(value);
  if (typeof value === "string") return formatTimesIn(value);
  if (typeof value !== "object") return JSON.stringify(value).replaceAll('"', "");
  // Decided changes are shown as a list of their own.
  const fields = Object.entries(value).filter(
    ([name, field]) => field !== null && name !== "changes",
  );
  const words = fields.map(([name, field]) => `${fieldText(name)}: ${valueText(field)}`);
  return words.join(", ") || "–";
}

/** The pages number versions by their generation. */
function fieldText(name: string): string {
  return name.replace("generation", "version").replaceAll("_", " ");
}

const SHA256 = /^[0-9a-f]{64}$/;
