import { describe, expect, it } from "vitest";
import { asEvidence, EVIDENCE_MAX_LENGTH } from "../../../src/catalog/evidence.ts";

describe("asEvidence", () => {
  it("keeps a short text unchanged", () => {
    const longest = "x".repeat(EVIDENCE_MAX_LENGTH);
    expect(["", "ZRH", longest].map((text) => asEvidence(text))).toEqual(["", "ZRH", longest]);
  });

  it("cuts a longer text and marks the cut", () => {
    expect(asEvidence("x".repeat(250_000))).toBe(`${"x".repeat(EVIDENCE_MAX_LENGTH)}…`);
    expect(asEvidence("Zürich", 2)).toBe("Zü…");
  });

  it("never cuts a character in half, which no store could keep", () => {
    expect(asEvidence("a🛬b", 2)).toBe("a\ufffd…");
  });
});
