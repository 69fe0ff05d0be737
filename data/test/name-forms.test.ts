import { expect, it } from "vitest";
import { wellFormed } from "../build/name-forms.ts";
import { makeSounds } from "../build/sound.ts";

const { soundsLike } = makeSounds((name) => name);

it.each<[kind: string, locale: string, english: string, name: string, formed: string]>([
  ["half a bracket", "fr", "Baucau", "Baucau (municipalité", "Baucau"],
  ["half a bracket", "zh", "Plateaux", "高原（刚果", "高原"],
  ["a mark of a genitive", "et", "Vaud", "Vaud’", "Vaud"],
  ["a mark of quotation", "fi", "Hainaut", "“Hainaut”", "Hainaut"],
  ["small letters", "uz", "Madhya Pradesh", "Madhya-pradesh", "Madhya-Pradesh"],
  ["small letters", "tr", "Koh Kong", "Koh kong", "Koh Kong"],
])("a name loses %s: in %s, of %s, %s is %s", (_, locale, english, name, formed) => {
  expect(wellFormed(name, { locale, english, isTransliterated: false, soundsLike })).toBe(formed);
});

it.each<[why: string, locale: string, english: string, name: string]>([
  ["a bracket that closes", "de", "Western (Ghana)", "Westen (Ghana)"],
  ["the word for the kind", "uz", "Samarqand Region", "Samarqand viloyati"],
  ["an article within", "tr", "Bocas del Toro", "Bocas del Toro"],
  ["an adjective of a language that writes it small", "cs", "South Moravia", "Jižní morava"],
])("a name keeps %s", (_, locale, english, name) => {
  expect(wellFormed(name, { locale, english, isTransliterated: false, soundsLike })).toBe(name);
});

it("a name keeps the apostrophe that stands for a letter of the country's script", () => {
  const region = { locale: "it", english: "Tver", isTransliterated: true, soundsLike };
  expect(wellFormed("Tver’", region)).toBe("Tver’");
});
