/** Languages in which countries are found, besides that of the answer. */
const LANGUAGES = "ar cs da de el es fi fr hi hu id it ja ko nl no pl pt ro ru sv th tr uk vi zh";

/** Names a country in the languages of most travellers. */
export function countryNames(code: string): string[] {
  names ??= LANGUAGES.split(" ").map((locale) => new Intl.DisplayNames(locale, { type: "region" }));
  return names.map((inLanguage) => inLanguage.of(code) ?? code);
}

let names: readonly Intl.DisplayNames[] | undefined;
