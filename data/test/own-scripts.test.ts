import { describe, expect, it } from "vitest";
import { readCurated } from "../build/curated.ts";
import { likeness, trueNames } from "../build/own-scripts.ts";

describe("trueNames", () => {
  const listed = readCurated<"country" | "english" | "name">("own-names");
  const named = (country: string, english: string, name: string) =>
    trueNames([...listed, { country, english, name }]).some((place) => place.name === name);

  it("takes names in other scripts that sound like the English ones", () => {
    expect(likeness("Воронеж", "Voronezh")).toBe(1);
    expect(named("RU", "Voronezh", "Воронеж")).toBe(true);
    expect(named("RU", "Volgograd", "Царицын")).toBe(false);
  });

  it("hears Chinese signs in China alone", () => {
    expect(named("CN", "Shanghai", "上海")).toBe(true);
    expect(named("CN", "Kunming", "上海")).toBe(false);
    expect(named("JP", "Sapporo", "札幌")).toBe(true);
  });

  it("takes and drops what a table says, whatever it sounds like", () => {
    expect(named("DZ", "Béchar", "بشار، الجزایر")).toBe(true);
    expect(named("BH", "Manama", "منامه")).toBe(false);
  });

  it("stops at a verdict on a name that no place has", () => {
    expect(() => trueNames(listed.slice(1))).toThrow(
      /own-names.csv: .* GeoNames has no such name/u,
    );
  });
});
