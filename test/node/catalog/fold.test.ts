import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { foldText } from "../../../src/catalog/fold.ts";

describe("foldText", () => {
  it.each([
    ["São Tomé", "sao-tome"],
    ["Łódź", "lodz"],
    ["Ærø", "aero"],
    ["Straße", "strasse"],
    ["İstanbul", "istanbul"],
    ["Diyarbakır", "diyarbakir"],
    ["Þórshöfn", "thorshofn"],
    ["Côte d’Ivoire", "cote-d-ivoire"],
    ["  St. John's (unusable) ", "st-john-s-unusable"],
    ["ﬁne №5 ②", "fine-no5-2"],
    ["北海道", ""],
    ["Нарьян-Мар", ""],
    ["", ""],
  ])("folds “%s” to “%s”", (text, folded) => {
    expect(foldText(text)).toBe(folded);
  });

  it("returns words of [a-z0-9] joined by single hyphens, or nothing", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (text) => {
        expect(foldText(text)).toMatch(/^([a-z0-9]+(-[a-z0-9]+)*)?$/);
      }),
    );
  });

  it("does not change its own result", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (text) => {
        expect(foldText(foldText(text))).toBe(foldText(text));
      }),
    );
  });

  it("treats composed and decomposed letters alike, and capitals like small letters", () => {
    fc.assert(
      fc.property(fc.stringMatching(/^[a-zà-öø-ÿā-ž ]*$/), (text) => {
        expect(foldText(text.normalize("NFD"))).toBe(foldText(text));
        expect(foldText(text.toUpperCase())).toBe(foldText(text));
      }),
    );
  });
});
