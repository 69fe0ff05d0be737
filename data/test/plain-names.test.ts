import { describe, expect, it } from "vitest";
import { withoutHeadWords, type HeadWords } from "../build/plain-names.ts";
import { makeSounds } from "../build/sound.ts";

const NONE: HeadWords = { before: [], after: [], links: [], nominative: [], inflected: [] };
/** Latin letters for the names of other scripts that stand here. */
const LATIN = new Map([
  ["Κρήτη", "Kriti"],
  ["ης", "is"],
  ["ภูเก็ต", "phuket"],
  ["বার্ন", "barn"],
]);
const toAscii = (name: string): string => LATIN.get(name) ?? name;
const { sharesOnset } = makeSounds(toAscii);

/** The names of regions `XX-1`, `XX-2`, … of one country. */
function plain(
  locale: string,
  words: Partial<HeadWords>,
  pairs: readonly (readonly [english: string, name: string])[],
  {
    country = "XX",
    listed = {},
  }: { readonly country?: string; readonly listed?: Readonly<Record<string, string>> } = {},
): (string | undefined)[] {
  const keys = pairs.map((_, index) => `iso3166-2:${country}-${index}`);
  const names = withoutHeadWords({
    locale,
    names: new Map(pairs.map(([, name], index) => [keys[index] ?? "", name])),
    regions: pairs.map(([bareName], index) => ({ key: keys[index] ?? "", bareName })),
    words: { ...NONE, ...words },
    sharesOnset,
    toAscii,
    listed: (_, name) => listed[name],
  });
  return keys.map((key) => names.get(key));
}

describe("withoutHeadWords", () => {
  it.each<[locale: string, words: Partial<HeadWords>, english: string, name: string, own: string]>([
    ["de", { before: ["Provinz"] }, "Bali", "Provinz Bali", "Bali"],
    ["tr", { after: ["ili"] }, "Antalya", "Antalya ili", "Antalya"],
    ["sv", { after: ["~s län", "län"] }, "Stockholm", "Stockholms län", "Stockholm"],
    [
      "es",
      { before: ["Provincia"], links: ["de"] },
      "La Pampa",
      "Provincia de La Pampa",
      "La Pampa",
    ],
    ["it", { before: ["Regione"], links: ["d’"] }, "Oromia", "Regione d’Oromia", "Oromia"],
    ["ga", { before: ["Contae"] }, "Donegal", "Contae Dhún na nGall", "Dún na nGall"],
    ["ga", { before: ["Cúige"] }, "Shinyanga", "Cúige Shinyanga", "Shinyanga"],
    ["sk", { after: ["~s län", "län"] }, "Halland", "Hallands län", "Halland"],
    ["bn", { before: ["ক্যান্টন"], links: ["অব"] }, "Bern", "ক্যান্টন অব বার্ন", "বার্ন"],
    [
      "el",
      { before: ["Περιφέρεια"], nominative: [["ης", "η"]] },
      "Crete",
      "Περιφέρεια Κρήτης",
      "Κρήτη",
    ],
    ["de", { before: ["Munizip"] }, "Kufra", "Munizip al-Kufra", "Al-Kufra"],
    ["th", { before: ["จังหวัด"] }, "Phuket", "จังหวัดภูเก็ต", "ภูเก็ต"],
    ["ja", { after: ["州"] }, "Michigan", "ミシガン州", "ミシガン"],
    ["zh", { after: ["州"] }, "Hawaii", "夏威夷州", "夏威夷"],
  ])("leaves the word for the kind out in %s", (locale, words, english, name, own) => {
    expect(plain(locale, words, [[english, name]])).toEqual([own]);
  });

  it.each<[why: string, words: Partial<HeadWords>, english: string, name: string]>([
    ["says where", { before: ["Region"] }, "Capital Region", "Region Hovedstaden"],
    ["is an adjective", { before: ["Obwód"] }, "Kursk", "Obwód kurski"],
    ["is inflected", { after: ["provints"], inflected: ["i"] }, "Cork", "Corki provints"],
    [
      "begins with a part of the word",
      { before: ["Región"], links: ["de"] },
      "Santiago Metropolitan",
      "Región Metropolitana de Santiago",
    ],
    [
      "has two names with a link each",
      { before: ["Regione"], links: ["di", "della"] },
      "Bjelovar-Bilogora",
      "Regione di Bjelovar e della Bilogora",
    ],
    [
      "is an English title",
      { before: ["Condado"], links: ["de"] },
      "Homa Bay",
      "Condado de Homa Bay",
    ],
  ])("leaves the word if the rest %s", (_, words, english, name) => {
    expect(plain("es", words, [[english, name]])).toEqual([name]);
  });

  it("leaves the word if another region of the country has the rest as its name", () => {
    const names = [
      ["Moscow", "Moskau"],
      ["Moscow Oblast", "Oblast Moskau"],
    ] as const;
    expect(plain("de", { before: ["Oblast"] }, names)).toEqual(["Moskau", "Oblast Moskau"]);
  });

  it("leaves the word if two regions of a country would have one name", () => {
    const names = [
      ["Altai Republic", "Republik Altai"],
      ["Altai Krai", "Region Altai"],
    ] as const;
    const words = { before: ["Republik", "Region"] };
    expect(plain("de", words, names)).toEqual(["Republik Altai", "Region Altai"]);
  });

  it("leaves the word if another region has the name in English, however either is spelled", () => {
    expect(
      plain("de", { before: ["Oblast"] }, [
        ["Kyiv", "Kiew"],
        ["Kyiv Oblast", "Oblast Kyjiw"],
      ]),
    ).toEqual(["Kiew", "Oblast Kyjiw"]);
    expect(
      plain("de", { before: ["Provinz"] }, [
        ["Riau", "Provinz Riau"],
        ["Riau Islands", "Riau-Inseln"],
      ]),
    ).toEqual(["Riau", "Riau-Inseln"]);
  });

  it("leaves the word if the English name has one too", () => {
    const names = [
      ["Free State", "Free State"],
      ["Kyiv Oblast", "Kyiv State"],
      ["Kano", "Kano State"],
    ] as const;
    expect(plain("xx", { after: ["State"] }, names)).toEqual(["Free State", "Kyiv State", "Kano"]);
  });

  it("takes what a table has for the name", () => {
    const names = [
      ["Fukuoka", "Fukuoka প্রশাসনিক অঞ্চল"],
      ["Botswana", "Fukuoka, Botsvana"],
    ] as const;
    const listed = { [names[0][1]]: names[0][1], [names[1][1]]: "Botsvana" };
    expect(plain("bn", { after: ["অঞ্চল"] }, names, { listed })).toEqual([
      "Fukuoka প্রশাসনিক অঞ্চল",
      "Botsvana",
    ]);
  });

  it("leaves the word that a Tamil name is doubled before", () => {
    const words = { after: ["பிரதேசம்", "மாகாணம்"] };
    expect(plain("ta", words, [["Uttar", "Uttar உத்தரப் பிரதேசம்"]])).toEqual(["Uttar உத்தரப் பிரதேசம்"]);
  });

  it("never cuts a compound word in two if names have no spaces", () => {
    expect(plain("ja", { after: ["州"] }, [["Yukon", "ユーコン準州"]])).toEqual(["ユーコン準州"]);
    expect(plain("ko", { after: ["공화국"] }, [["Crimea", "크림 자치공화국"]])).toEqual([
      "크림 자치공화국",
    ]);
  });

  it("leaves Japan's prefectures their word in Japanese", () => {
    const names = [["Fukui", "福井県"]] as const;
    expect(plain("ja", { after: ["県"] }, names, { country: "JP" })).toEqual(["福井県"]);
  });

  it("leaves short Chinese names their word, save those of China", () => {
    const words = { after: ["省"] };
    expect(plain("zh", words, [["Liège", "列日省"]])).toEqual(["列日省"]);
    expect(plain("zh", words, [["Hainan", "海南省"]], { country: "CN" })).toEqual(["海南"]);
  });
});
