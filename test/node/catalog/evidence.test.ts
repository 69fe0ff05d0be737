import { describe, expect, it } from "vitest";
import { asEvidence, EVIDENCE_MAX_LENGTH } from "../../../src/catalog/evidence.ts";

describe("asEvidence", () => {
  it("keeps what is short as it is", () => {
    const longest = "x".repeat(EVIDENCE_MAX_LENGTH);
    expect(["", "ZRH", longest].map((text) => asEvidence(text))).toEqual(["", "ZRH", longest]);
  });

  it("cuts what is longer, and shows that", () => {
    expect(asEvidence("x".repeat(250_000))).toBe(`${"x".repeat(EVIDENCE_MAX_LENGTH)}…`);
    expect(asEvidence("Zürich", 2)).toBe("Zü…");
  });

  it("leaves no half of a character, which no store could keep", () => {
    expect(asEvidence("a🛬b", 2)).toBe("a\ufffd…");
  });
});
