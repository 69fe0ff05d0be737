import { Buffer } from "node:buffer";

/** Longest quoted upstream text, in UTF-16 code units. */
export const EVIDENCE_MAX_LENGTH = 40;

/** Shortens a text of unknown length and marks the cut with an ellipsis. */
export function asEvidence(text: string, maxLength = EVIDENCE_MAX_LENGTH): string {
  if (text.length <= maxLength) return text;
  // Copies the text, because a substring keeps the whole string in memory.
  return `${Buffer.from(text.slice(0, maxLength)).toString()}…`;
}
