import { Buffer } from "node:buffer";

/** Longest text of upstream that is kept to show what was wrong with it, in UTF-16 code units. */
export const EVIDENCE_MAX_LENGTH = 40;

/** A text of unknown length as evidence: its beginning, with an ellipsis if something was cut. */
export function asEvidence(text: string, maxLength = EVIDENCE_MAX_LENGTH): string {
  if (text.length <= maxLength) return text;
  // Decoded anew: a part of a string would keep the whole of it in memory.
  return `${Buffer.from(text.slice(0, maxLength)).toString()}…`;
}
