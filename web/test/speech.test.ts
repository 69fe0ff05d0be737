import { readdirSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { ENGLISH, speechIn } from "../explorer/speech.ts";
import { WORDS, type Words } from "../explorer/words/en.ts";

const FILES = readdirSync("web/explorer/words").filter((name) => name !== "en.ts");
const gapsOf = (text: string) => [...text.matchAll(/\{\w+\}/g)].map(([gap]) => gap).toSorted();

describe.each(FILES)("the words of %s", (file) => {
  const language = file.replace(".ts", "").replace("hant", "Hant");

  it("have the gaps of the English ones, and no text is missing", async () => {
    const { WORDS: words }: { readonly WORDS: Words } = await import(`../explorer/words/${file}`);
    const { airportCount: _, ...texts } = WORDS;
    for (const [word, english] of Object.entries(texts)) {
      const text = words[word as keyof typeof texts]; // its own keys
      expect(text.trim(), word).not.toBe("");
      expect(gapsOf(text), word).toEqual(gapsOf(english));
    }
  });

  it("count airports in every plural form that the language has for so many", async () => {
    const { WORDS: words }: { readonly WORDS: Words } = await import(`../explorer/words/${file}`);
    const rules = new Intl.PluralRules(language);
    const wanted = new Set(Array.from({ length: 1_000 }, (_, count) => rules.select(count)));
    expect(new Set(Object.keys(words.airportCount))).toEqual(wanted.add("other"));
  });
});

describe("the speech of a language", () => {
  const russian = async () => speechIn("ru", (await import("../explorer/words/ru.ts")).WORDS);

  it.each([
    [1, "1 аэропорт"],
    [3, "3 аэропорта"],
    [5, "5 аэропортов"],
    [21, "21 аэропорт"],
  ])("counts %i airports", async (count, text) => {
    expect((await russian()).countAirports(count)).toBe(text);
  });

  it("writes numbers and units as the language does", async () => {
    const german = speechIn("de", (await import("../explorer/words/de.ts")).WORDS);
    expect(german.format("count", 9_120)).toBe("9.120");
    expect(german.format("kilometer", 1_234)).toBe("1.234 km");
    expect(german.position({ lat: -33.94611, lon: 151.17722 })).toBe("33,9461° S, 151,1772° O");
    expect(ENGLISH.position({ lat: -33.94611, lon: 151.17722 })).toBe("33.9461° S, 151.1772° E");
    expect((await russian()).position({ lat: 55.75, lon: -37.6 })).toBe(
      "55,7500° с. ш., 37,6000° з. д.",
    );
  });
});
