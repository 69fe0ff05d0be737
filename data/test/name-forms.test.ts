import { expect, it } from "vitest";
import { wellFormed, withoutForeignGrammar } from "../build/name-forms.ts";
import { makeSounds } from "../build/sound.ts";

/** Latin letters for a name in another script. */
const LATIN = new Map([["பெடரல் டிபெண்டென்சிஸ்", "federal dependencies"]]);
const { soundsLike } = makeSounds((name) => LATIN.get(name) ?? name);

const inCountry = (country: string, locale: string, english: string) => ({
  locale,
  country,
  english,
  isTransliterated: false,
  soundsLike,
});

it.each<[kind: string, locale: string, english: string, name: string, formed: string]>([
  ["half a bracket", "fr", "Baucau", "Baucau (municipalité", "Baucau"],
  ["half a bracket", "zh", "Plateaux", "高原（刚果", "高原"],
  ["a mark of a genitive", "et", "Vaud", "Vaud’", "Vaud"],
  ["a mark of quotation", "fi", "Hainaut", "“Hainaut”", "Hainaut"],
  ["a mark at its end", "ta", "Dhale", "அட டாலி ‘", "அட டாலி"],
  ["a space beside an apostrophe", "si", "Ha’il", "හා ‘ඉල්", "හා’ඉල්"],
  ["a space before a hyphen", "ta", "Brunei-Muara", "ப்ருனெய் -முரா", "ப்ருனெய்-முரா"],
  [
    "a space after a hyphen",
    "fi",
    "Castile-La Mancha",
    "Kastilia- La Mancha",
    "Kastilia-La Mancha",
  ],
  ["small letters", "uz", "Madhya Pradesh", "Madhya-pradesh", "Madhya-Pradesh"],
  ["small letters", "tr", "Koh Kong", "Koh kong", "Koh Kong"],
  ["a comma apart", "gu", "South Ash Sharqiyah", "એશ શાર્કિયાહ , સાઉથ", "એશ શાર્કિયાહ, સાઉથ"],
  ["a vowel sign twice", "te", "Vologda", "వోోలోగ్డా", "వోలోగ్డా"],
  ["a vowel sign twice", "bn", "Chuuk", "চুুক", "চুক"],
  ["a letter of Arabic", "ur", "Kaliningrad", "كالينينگراد", "کالینینگراد"],
  ["a letter of Persian", "ar", "Karaj", "کرج", "كرج"],
  ["another letter’s mark", "uz", "Northern Bahr el Ghazal", "Baxr-al-Gʼazal", "Baxr-al-Gʻazal"],
])("a name loses %s: in %s, of %s, %s is %s", (_, locale, english, name, formed) => {
  expect(wellFormed(name, inCountry("TL", locale, english))).toBe(formed);
});

it.each([
  ["gl", "RO", "Neamţ", "Neamț"],
  ["hr", "RO", "Maramureş", "Maramureș"],
  ["id", "MD", "Raionul Floreşti", "Raionul Florești"],
  ["tr", "RO", "Timiş", "Timiş"],
  ["ca", "TR", "Muş", "Muş"],
])("in %s, a name of %s has Romanian’s letters: %s is %s", (locale, country, name, formed) => {
  expect(wellFormed(name, inCountry(country, locale, name))).toBe(formed);
});

it.each<
  [kind: string, locale: string, country: string, english: string, name: string, own: string]
>([
  ["a title with of", "kn", "CH", "Solothurn", "ಕ್ಯಾಂಟನ್ ಆಫ್ ಸೋಲೋಥರ್ನ್", "ಸೋಲೋಥರ್ನ್"],
  ["a title with of", "gu", "RU", "Tatarstan", "રિપબ્લિક ઓફ તાતરસ્તાન", "તાતરસ્તાન"],
  [
    "of after it",
    "ta",
    "VE",
    "Federal Dependencies",
    "பெடரல் டிபெண்டென்சிஸ் ஆப் வெனிசுலா",
    "பெடரல் டிபெண்டென்சிஸ்",
  ],
  ["a genitive", "sw", "SE", "Stockholm", "Stockholms", "Stockholm"],
  ["a genitive", "fa", "SE", "Halland", "هالاندس", "هالاند"],
  ["an adjective", "te", "PL", "Pomerania", "పోమరేనియన్", "పోమరేనియా"],
  ["an adjective", "si", "PL", "Pomerania", "පොමරෙනියන්", "පොමරෙනියා"],
])("a name loses %s: in %s, of %s-%s, %s is %s", (_, locale, country, english, name, own) => {
  expect(withoutForeignGrammar(name, inCountry(country, locale, english))).toBe(own);
});

it.each<[why: string, locale: string, country: string, english: string, name: string]>([
  ["the of of its English name", "hi", "IM", "Isle of Man", "आइल ऑफ़ मैन"],
  ["an s of its own", "lt", "SE", "Västerbotten", "Vesterbotenas"],
  ["an s that English has", "de", "HT", "Nippes", "Nippes"],
  ["an ending that English has", "kn", "PA", "Darién", "ಡೇರಿಯನ್"],
])("a name keeps %s: in %s", (_, locale, country, english, name) => {
  expect(withoutForeignGrammar(name, inCountry(country, locale, english))).toBe(name);
});

it.each<[why: string, locale: string, english: string, name: string]>([
  ["a bracket that closes", "de", "Western (Ghana)", "Westen (Ghana)"],
  ["the word for the kind", "uz", "Samarqand Region", "Samarqand viloyati"],
  ["a hyphen for a word", "hu", "Khanty-Mansi", "Hanti- és Manysiföld"],
  ["hyphens with two spaces", "sl", "Friuli–Venezia Giulia", "Furlanija - Julijska krajina"],
  ["an article within", "tr", "Bocas del Toro", "Bocas del Toro"],
  ["an adjective of a language that writes it small", "cs", "South Moravia", "Jižní morava"],
])("a name keeps %s", (_, locale, english, name) => {
  expect(wellFormed(name, inCountry("DE", locale, english))).toBe(name);
});

it.each([
  ["it", "RU", "Tver’", "Tver’"],
  ["fi", "AM", "Sjunik’", "Sjunik"],
  ["et", "SA", "Al-Bāḩah’", "Al-Bāḩah"],
])("in %s, of %s, %s is %s", (locale, country, name, formed) => {
  const region = { ...inCountry(country, locale, name), isTransliterated: true };
  expect(wellFormed(name, region)).toBe(formed);
});
