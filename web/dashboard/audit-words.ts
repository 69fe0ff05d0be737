/** Writes what was before an action and what is after it; of one that was refused, only the former. */
export function changeText(before: unknown, after: unknown): string {
  if (before != null) return `${valueText(before)} → ${valueText(after)}`;
  return after != null ? valueText(after) : "";
}

/** Writes a document in words: `reason: maintenance, until: 2026-11-22T08:00:00Z`. */
export function valueText(value: unknown): string {
  if (value === null || value === undefined) return "–";
  if (typeof value !== "object") return JSON.stringify(value).replaceAll('"', "");
  // Decided changes are shown as a list of their own.
  const fields = Object.entries(value).filter(
    ([name, field]) => field !== null && name !== "changes",
  );
  const words = fields.map(([name, field]) => `${name.replaceAll("_", " ")}: ${valueText(field)}`);
  return words.join(", ") || "–";
}
