import { describe, expect, it } from "vitest";
import type { AirportRecord } from "../../src/schemas/held-change.ts";
import { decidedChange } from "../../src/schemas/decided-change.ts";
import { aHeldChange, ZURICH } from "../../test/builders/held-change.ts";
import { compareWords, decidedText, effectOf } from "../dashboard/held-words.ts";

describe("effectOf", () => {
  it.each<[Partial<AirportRecord> | null, Partial<AirportRecord> | null, string]>([
    [{}, null, "ZRH leaves the catalog, in every language."],
    [null, {}, "ZRH enters the catalog, in every language."],
    [{}, { name: "Ghost", icao: "" }, "ZRH gets another icao, name."],
    [{}, { lat: 48.46 }, "ZRH moves by 111 km."],
    [{}, { lat: 48.46, name: "Ghost" }, "ZRH moves by 111 km, and gets another name."],
  ])("says in plain words what leads from %j to %j", (before, after, effect) => {
    const change = {
      before: before && { ...ZURICH, ...before },
      after: after && { ...ZURICH, ...after },
    };
    expect(effectOf(aHeldChange(change))).toBe(effect);
  });
});

describe("decidedText", () => {
  it.each<[Partial<AirportRecord> | null, Partial<AirportRecord> | null, string]>([
    [{}, { name: "Ghost", scheduled: false }, "name: Zürich Airport → Ghost, scheduled: yes → no"],
    [{ icao: "" }, { icao: "LSZH" }, "icao: – → LSZH"],
    [
      {},
      null,
      "leaves the catalog (name: Zürich Airport, municipality: Zürich, region: CH-ZH, country: CH, type: large_airport, scheduled: yes)",
    ],
    [
      null,
      { municipality: "" },
      "enters the catalog (name: Zürich Airport, region: CH-ZH, country: CH, type: large_airport, scheduled: yes)",
    ],
  ])("says what was served and what is served instead: from %j to %j", (before, after, text) => {
    const change = {
      before: before && { ...ZURICH, ...before },
      after: after && { ...ZURICH, ...after },
    };
    expect(decidedText(decidedChange(aHeldChange(change)))).toBe(text);
  });
});

describe("compareWords", () => {
  const marked = (text: string, other: string) =>
    compareWords(text, other).flatMap((word) => (word.isOther ? [word.text] : []));

  it("marks the words that the other text lacks", () => {
    expect(marked("Phantom Zürich Airport", "Zürich Airport")).toEqual(["Phantom"]);
    expect(marked("Zürich Airport", "Phantom Zürich Airport")).toEqual([]);
    expect(marked("Ghost Field", "Zürich")).toEqual(["Ghost", "Field"]);
  });

  it("marks the whole text if the same words have another order", () => {
    expect(marked("Airport Zürich", "Zürich Airport")).toEqual(["Airport Zürich"]);
    expect(marked("Zürich Airport", "Zürich Airport")).toEqual([]);
  });

  it("loses nothing of the text", () => {
    const words = compareWords("Ghost  Field", "Zürich");
    expect(words.map(({ text }) => text).join("")).toBe("Ghost  Field");
  });
});
